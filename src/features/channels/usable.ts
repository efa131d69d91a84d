import { CodedError, notFound } from '../../errors.ts';
import type { ChannelRow } from './channel.ts';

/**
 * Lets a call go on only over a channel that is there and active.
 * @param isNamed whether the caller named it; otherwise it is the default one that is meant
 * @throws NOT_FOUND for an unknown one that was named, MESSAGING_NOT_CONFIGURED
 */
export function requireUsable<Channel extends Pick<ChannelRow, 'status' | 'status_reason'>>(
  channel: Channel | undefined,
  isNamed: boolean,
): Channel {
  if (!channel && isNamed) throw notFound('Channel');
  if (!channel)
    throw new CodedError('MESSAGING_NOT_CONFIGURED', 'No channel is connected: connect a business number first.');
  if (channel.status !== 'active')
    throw new CodedError(
      'MESSAGING_NOT_CONFIGURED',
      `The channel is ${channel.status}: ${channel.status_reason ?? 'no reason is known'}.`,
    );
  return channel;
}
