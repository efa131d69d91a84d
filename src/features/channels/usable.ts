import { CodedError, notFound } from '../../core/errors.ts';
import type { ChannelRow } from './channel.ts';

/**
 * Returns the channel if it exists and is active.
 * @param isNamed whether the caller named the channel; otherwise it is the default channel
 * @throws NOT_FOUND for a named channel that does not exist; MESSAGING_NOT_CONFIGURED otherwise
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
