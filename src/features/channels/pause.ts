import { conflict, notFound } from '../../core/errors.ts';
import type { Db } from '../../database/database.ts';
import { append } from '../../events/append.ts';
import type { Resources } from '../../schema/context.ts';
import { resumeQueue } from '../messages/dispatch/resume.ts';
import type { PublicChannel } from './channel.ts';
import { getChannels, setChannelStatus } from './store.ts';

type Needs = Pick<Resources, 'db' | 'signals'>;

/**
 * Pauses a channel, so that its messages stay queued, or resumes it, with an event. A disconnected channel is not changed.
 * @param reason null to resume
 * @throws NOT_FOUND; CONFLICT when resuming a disconnected channel
 */
export async function setPaused(
  { db, signals }: Needs,
  tenantId: number,
  id: number,
  reason: string | null,
): Promise<PublicChannel> {
  const channel = await db.transaction(trx => writePaused(trx, tenantId, id, reason));
  signals.send('events');
  return channel;
}

/** Like `setPaused`, in a transaction of the caller. */
export async function writePaused(
  trx: Db,
  tenantId: number,
  id: number,
  reason: string | null,
): Promise<PublicChannel> {
  const row = await setChannelStatus(trx, tenantId, id, reason === null ? 'active' : 'paused', reason);
  if (row) await append(trx, tenantId, [{ type: 'channel.updated', payload: { channel: row } }]);
  if (row && reason === null) await resumeQueue(trx, tenantId, id);
  const [channel] = row ? [row] : await getChannels(trx, tenantId, [id]);
  if (!channel) throw notFound('Channel');
  if (channel.status === 'disconnected' && reason === null)
    throw conflict('The channel is disconnected: connect its number again.');
  return channel;
}
