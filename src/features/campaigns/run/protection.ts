import { whyNotActive } from '../../channels/require-channel.ts';
import type { Content } from '../../messages/send/content.ts';
import type { RunRow } from './run-store.ts';
import type { SendingConditions } from './sending-conditions.sql.ts';

/** Why a campaign pauses itself, or cannot go on. */
export interface Stop {
  readonly how: 'pause' | 'fail';
  readonly code: string;
  readonly details: string;
}

/** Codes of the network after which nothing more may be sent: restricted, payment, spam limit. */
export const STOP_CODES: Readonly<Record<number, string>> = {
  368: 'The network has blocked the account for a violation of its policies (368).',
  131042: 'The network reports a problem with the payment method (131042).',
  131048: 'The network has reached its spam limit for this number (131048).',
};

/** Shares of failures say nothing of fewer messages than these. */
const MIN_SETTLED = 20;
/** The campaign pauses when so much of the portfolio's daily limit is used; the rest is for other messages. */
export const LIMIT_SHARE = 0.95;

/**
 * Messages that a campaign makes before it counts the people of the portfolio again: a quarter of what the share above leaves, so that
 * four campaigns that know nothing of each other's messages stay within the limit.
 */
export const uncountedOf = (limit: number): number => Math.max(1, Math.floor((limit * (1 - LIMIT_SHARE)) / 4));

/** The size of the first wave: as given, else 100, or 1 % of the recipients if that is more. */
export const waveSizeOf = (firstWave: number | null, total: number): number =>
  firstWave ?? Math.max(100, Math.ceil(total / 100));

/** Messages that the campaign has made. */
export const madeOf = ({ total, pending, skipped }: Pick<RunRow, 'total' | 'pending' | 'skipped'>): number =>
  total - pending - skipped;

type Progress = Pick<SendingConditions, 'sent' | 'delivered' | 'failed'>;

const settledOf = ({ delivered, failed }: Progress): number => delivered + failed;

/** Whether the first wave can be judged: the outcomes of its messages are known, or were awaited long enough since all were made. Cancelled and deleted ones have none. */
export function isWaveOver(
  run: Pick<RunRow, 'total' | 'pending' | 'skipped' | 'wave_ended_at' | 'first_wave_seconds'>,
  progress: Progress & Pick<SendingConditions, 'cancelled'>,
  nowMs: number,
): boolean {
  if (settledOf(progress) + progress.cancelled >= madeOf(run)) return true;
  return run.wave_ended_at !== null && nowMs - Date.parse(run.wave_ended_at) >= run.first_wave_seconds * 1_000;
}

/** The share of failures since the campaign was last resumed after it had stopped itself, if it is too great. */
export function failureStop(
  run: Pick<RunRow, 'failed_before' | 'settled_before' | 'max_failure_percent' | 'is_wave_passed'>,
  progress: Progress,
  isWaveOverNow: boolean,
): Stop | undefined {
  const failed = progress.failed - run.failed_before;
  const settled = settledOf(progress) - run.settled_before;
  // The first wave is judged as a whole, however small it is.
  if (settled < (isWaveOverNow ? 1 : MIN_SETTLED)) return undefined;
  if (failed * 100 <= settled * run.max_failure_percent) return undefined;
  return {
    how: 'pause',
    code: run.is_wave_passed ? 'FAILURES' : 'FIRST_WAVE',
    details: `${failed} of ${settled} messages failed, more than ${run.max_failure_percent} %.`,
  };
}

/** Why nothing may be sent now, from what the network says of the number; undefined: it may. */
export function stopOf(conditions: SendingConditions): Stop | undefined {
  const { channel_status: status, channel_reason: reason, quality, stop_code: code } = conditions;
  if (conditions.channel_id === null || status === 'disconnected')
    return { how: 'fail', code: 'CHANNEL_DISCONNECTED', details: reason ?? 'The channel is not connected.' };
  if (status === 'paused') return { how: 'pause', code: 'CHANNEL_PAUSED', details: whyNotActive(status, reason) };
  if (code !== null)
    return {
      how: 'pause',
      code: 'NETWORK_REFUSED',
      details: STOP_CODES[code] ?? `The network refuses messages (${code}).`,
    };
  if (quality === 'RED') return { how: 'pause', code: 'QUALITY_RED', details: 'The quality of the number is red.' };
  return undefined;
}

/** Account statuses in which the network sends nothing. */
const CLOSED_ACCOUNTS: Readonly<Record<string, string>> = {
  DISABLE: 'The network has disabled the account.',
  DELETED: 'The account was deleted.',
  OFFBOARDED: 'The account has left the network.',
  PARTNER_REMOVED: 'The account has removed its partner, whose access has ended.',
  PARTNER_APP_UNINSTALLED: 'The account has removed the app, whose access has ended.',
};

/** Restrictions that concern templates, and of which category; undefined: of all. */
const RESTRICTED_CATEGORIES: Readonly<Record<string, Content['category']>> = {
  RESTRICTED_BIZ_INITIATED_MESSAGING: undefined,
  RESTRICTED_UTILITY_TEMPLATES: 'utility',
};

/** Why the account may not send templates of this category now; undefined: it may. Restrictions end by themselves. */
export function accountStop(
  { account_status: status, restrictions }: Pick<SendingConditions, 'account_status' | 'restrictions'>,
  category: Content['category'],
  nowMs: number,
): Stop | undefined {
  const closed = CLOSED_ACCOUNTS[status ?? ''];
  if (closed !== undefined) return { how: 'pause', code: 'ACCOUNT_RESTRICTED', details: closed };
  const found = restrictions?.find(({ type, expires_at }) => {
    if (!Object.hasOwn(RESTRICTED_CATEGORIES, type)) return false;
    if (expires_at !== null && Date.parse(expires_at) <= nowMs) return false;
    const concerned = RESTRICTED_CATEGORIES[type];
    return concerned === undefined || concerned === category;
  });
  if (!found) return undefined;
  const until = found.expires_at === null ? '' : ` until ${found.expires_at}`;
  return {
    how: 'pause',
    code: 'ACCOUNT_RESTRICTED',
    details: `The network has restricted the account${until} (${found.type}).`,
  };
}

/** Why the daily limit of the portfolio stops the campaign. @param reached people in the last 24 hours */
export function limitStop(limit: number | null, reached: number): Stop | undefined {
  if (limit === null || reached < Math.floor(limit * LIMIT_SHARE)) return undefined;
  return {
    how: 'pause',
    code: 'DAILY_LIMIT',
    details: `The portfolio has reached ${reached} people in 24 hours, of the ${limit} that the network allows.`,
  };
}
