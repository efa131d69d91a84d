import type { Db } from '../../database/database.ts';
import { append } from '../../events/append.ts';
import type { NumberHealth } from '../../network/health.ts';
import type { PublicChannel } from './channel.ts';
import { findHealth, lockHealth, writeHealth } from './health.sql.ts';
import { healthAfter, type PublicHealth, previousHealth } from './health.ts';

/** What was known of a number before the network was asked. */
export type KnownHealth = Pick<PublicHealth, 'updated_at'> | undefined;

/** What is known of a number: `recordCheck` compares it with what is known once the network has answered. */
export const knownHealth = async (db: Db, tenantId: number, channelId: number): Promise<KnownHealth> =>
  (await findHealth(db, tenantId, [channelId]))[0];

/**
 * Stores what the network answered about the number of a channel, with an event if it changed. If something else was reported since the
 * network was asked, by a webhook or another check, it stays: it may be newer than the answer. The periodic check asks again.
 * @param known before the network was asked; `connecting`: the first answer needs no event, `channel.updated` reports that the number is
 *   connected
 */
export async function recordCheck(
  trx: Db,
  tenantId: number,
  channel: PublicChannel,
  { patch, details }: NumberHealth,
  nowMs: number,
  known: KnownHealth | 'connecting',
): Promise<void> {
  const [locked] = await lockHealth(trx, tenantId, [channel.id]);
  if (!locked) return;
  const { health: before } = locked;
  const isConnecting = known === 'connecting';
  if (!isConnecting && (known ? known.updated_at !== before.updated_at : before.last_change !== null)) return;
  const now = new Date(nowMs).toISOString();
  const health = {
    ...healthAfter(before, patch, { field: 'check', event: null, occurred_at: now, details }),
    // Repeated webhooks are recognised by comparing them with the last one.
    last_change: before.last_change,
    updated_at: now,
    checked_at: now,
  };
  await writeHealth(trx, tenantId, [health]);
  const previous = previousHealth(before, health);
  const isReported = isConnecting && before.checked_at === null;
  if (!isReported && Object.keys(previous).length > 0)
    await append(trx, tenantId, [{ type: 'channel.health_changed', payload: { channel, health, previous } }]);
}
