import { conflict, notFound } from '../../core/errors.ts';
import type { Db } from '../../database/database.ts';
import { append } from '../../events/append.ts';
import type { Resources } from '../../schema/context.ts';
import { resumeQueue } from '../messages/dispatch/resume.ts';
import type { ChannelRef, PublicChannel } from './channel.ts';
import { findCredentials, getChannels, lockChannels, setChannelStatus } from './store.ts';

/**
 * Pauses a channel whose access token the network refused, so that its messages stay queued, with an event. A refusal of the former token
 * says nothing about a number that was connected again meanwhile.
 * @param accessToken of the refused request
 * @returns whether the channel has this token still
 */
export async function pauseRefused(
  { db, secrets, signals }: Pick<Resources, 'db' | 'secrets' | 'signals'>,
  channel: ChannelRef,
  reason: string,
  accessToken: string,
): Promise<boolean> {
  const { tenantId, channelId } = channel;
  const isPaused = await db.transaction(async trx => {
    // Before the token is read, which a connection that is not committed yet may change.
    await lockChannels(trx, tenantId);
    const [credentials] = await findCredentials(trx, [channel]);
    if (!credentials || secrets.open(credentials.access_token_sealed) !== accessToken) return false;
    await writePaused(trx, tenantId, channelId, reason);
    return true;
  });
  if (isPaused) signals.send('events');
  return isPaused;
}

/**
 * Pauses a channel in a transaction, or resumes it, with an event. A disconnected channel is not changed.
 * @param reason null to resume
 * @throws NOT_FOUND; CONFLICT when resuming a disconnected channel
 */
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
