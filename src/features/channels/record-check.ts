import type { Db } from '../../database/database.ts';
import { append } from '../../events/append.ts';
import type { NumberHealth } from '../../network/health.ts';
import type { ChannelRow } from './channel.ts';
import { lockHealth, writeHealth } from './health.sql.ts';
import { healthAfter, previousHealth } from './health.ts';

/**
 * Stores what the network answered about the number of a channel, with an event if it changed.
 * @param isConnecting the first answer needs no event: `channel.updated` reports that the number is connected
 */
export async function recordCheck(
  trx: Db,
  tenantId: number,
  channel: ChannelRow,
  { patch, details }: NumberHealth,
  nowMs: number,
  isConnecting = false,
): Promise<void> {
  const [before] = await lockHealth(trx, tenantId, [channel.id]);
  if (!before) return;
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
