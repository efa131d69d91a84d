import type { Resources } from '../../context.ts';
import { notFound } from '../../errors.ts';
import { append } from '../../events.ts';
import type { ChannelRow } from './channel.ts';
import { setChannelStatus } from './store.ts';

type Needs = Pick<Resources, 'db' | 'signals'>;

/** Stops a channel (nothing is sent, what waits stays) or lets it go on; either way with an event. @throws NOT_FOUND */
export async function setPaused(
  { db, signals }: Needs,
  tenantId: number,
  id: number,
  reason: string | null,
): Promise<ChannelRow> {
  const channel = await db.transaction(async trx => {
    const row = await setChannelStatus(trx, tenantId, id, reason === null ? 'active' : 'paused', reason);
    if (row) await append(trx, tenantId, [{ type: 'channel.updated', payload: { channel: row } }]);
    return row;
  });
  if (!channel) throw notFound('Channel');
  signals.send('events');
  return channel;
}
