import { CodedError, notFound } from '../../core/errors.ts';
import type { Db } from '../../database/database.ts';
import type { PublicChannel } from './channel.ts';
import { getChannels } from './store.ts';

/** @throws NOT_FOUND */
export async function requireChannel(db: Db, tenantId: number, id: number): Promise<PublicChannel> {
  const [channel] = await getChannels(db, tenantId, [id]);
  if (!channel) throw notFound('Channel');
  return channel;
}

/** Why a channel does not send, for people. The reason may be a sentence or a part of one. */
export const whyNotActive = (status: string, reason: string | null): string =>
  `The channel is ${status}: ${(reason ?? 'no reason is known').replace(/\.$/, '')}.`;

/**
 * Returns the channel if it exists and is active.
 * @param isNamed whether the caller named the channel; otherwise it is the default channel
 * @param field by which the caller named it
 * @throws NOT_FOUND for a named channel that does not exist; MESSAGING_NOT_CONFIGURED otherwise
 */
export function requireActiveChannel<Channel extends Pick<PublicChannel, 'status' | 'status_reason'>>(
  channel: Channel | undefined,
  isNamed: boolean,
  field?: string,
): Channel {
  if (!channel && isNamed) throw notFound('Channel', field);
  if (!channel)
    throw new CodedError('MESSAGING_NOT_CONFIGURED', 'No channel is connected: connect a business number first.');
  if (channel.status !== 'active')
    throw new CodedError('MESSAGING_NOT_CONFIGURED', whyNotActive(channel.status, channel.status_reason));
  return channel;
}
