import { whyNotActive } from '../../channels/require-channel.ts';
import type { HoldFacts } from './hold-reason.sql.ts';

/** Reasons that a lane writes with a postponement. */
export const PAIR_LIMIT_REASON =
  'Pair limit: after a short burst, the network accepts one message per person every six seconds.';
export const MERGED_REASON =
  'The contact was merged with another recipient of the campaign, who gets it: this message is about to be dropped.';
export const retryReason = (error: string): string => `The network refused it for now, and it is tried again: ${error}`;
export const doubtReason = (error: string): string =>
  `It is not known whether the network accepted it; its status is awaited: ${error}`;

/** Why a lane is paused, beside the network's errors. */
export const TENANT_SUSPENDED = 'The tenant is suspended.';

/** Returns why a queued message is not sent yet, as a text for people; null if it only waits for its turn. */
export function holdReason(held: HoldFacts): string | null {
  if (held.is_outbox_held) return 'The database was restored: the operator has not released its queue yet.';
  if (held.channel_status === 'paused') return whyNotActive('paused', held.channel_reason);
  if (held.channel_status === 'disconnected')
    return 'The channel is disconnected: the message is about to be cancelled.';
  if (held.hold_reason !== null) return held.hold_reason;
  if (held.lane_error === TENANT_SUSPENDED) return 'The tenant was suspended: the message is about to be sent.';
  if (held.lane_error !== null) return `The network asked the channel to wait: ${held.lane_error}`;
  if (held.is_behind) return 'An earlier message to the same person is not sent yet.';
  if (held.is_in_doubt) return 'It is not known whether the network accepted it; its status is awaited.';
  return null;
}
