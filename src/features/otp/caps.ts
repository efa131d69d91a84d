import type { Config } from '../../config.ts';
import { CodedError } from '../../errors.ts';
import { DAY, HOUR, MINUTE, SECOND } from '../../platform/clock.ts';

/** What was lately done with a phone number, oldest first: instants in ISO 8601. */
export interface PhoneUse {
  readonly sends: readonly string[];
  readonly resends: readonly string[];
  readonly verifications: readonly string[];
  readonly failures: readonly string[];
}

/** So many in any window of this length. */
export interface Cap {
  readonly of: keyof PhoneUse;
  readonly max: number;
  readonly windowMs: number;
  /** For people: too many of what. */
  readonly what: string;
}

type Caps = Config['otp'];

/** Sends include resends: neither can be used to pump a number or to have another five guesses. */
export const sendCaps = ({ sendsPerDay }: Caps) =>
  ({
    sends: { of: 'sends', max: sendsPerDay, windowMs: DAY, what: 'codes for this phone number today' },
    resends: { of: 'resends', max: 3, windowMs: 5 * MINUTE, what: 'codes sent again to this phone number' },
  }) as const satisfies Record<string, Cap>;

/** Failures outlive codes: resending brings no further guesses. */
export const verifyCaps = ({ failuresPerDay }: Caps) =>
  ({
    verifications: { of: 'verifications', max: 10, windowMs: MINUTE, what: 'verifications of this phone number' },
    failures: { of: 'failures', max: failuresPerDay, windowMs: DAY, what: 'wrong codes for this phone number today' },
  }) as const satisfies Record<string, Cap>;

/** Longest window of a phone number: what is older counts no more. */
export const LONGEST_WINDOW_MS = DAY;

/** The hour that a tenant's sends are counted in; ISO 8601. */
export const hourOf = (nowMs: number): string => new Date(nowMs - (nowMs % HOUR)).toISOString();

/** The beginning of a window that ends now; ISO 8601. */
export const windowStart = (nowMs: number, { windowMs }: Cap): string => new Date(nowMs - windowMs).toISOString();

/**
 * When there is room under a cap again, in milliseconds from now; 0 where there is.
 * @param instants in any order, older ones than the window among them
 */
export function waitMs({ max, windowMs }: Cap, instants: readonly string[], nowMs: number): number {
  const ends = instants.map(instant => Date.parse(instant) + windowMs).filter(end => end > nowMs);
  ends.sort((a, b) => a - b);
  const needed = ends[ends.length - max];
  return needed === undefined ? 0 : needed - nowMs;
}

/** The refusal of the cap that has to be waited for the longest. */
export function capRefusal(caps: readonly Cap[], use: PhoneUse, nowMs: number): CodedError {
  const [first] = caps.map(cap => ({ cap, ms: waitMs(cap, use[cap.of], nowMs) })).sort((a, b) => b.ms - a.ms);
  return tooMany(first?.cap.what ?? 'calls', first?.cap.max ?? 0, first?.ms ?? 0);
}

export const hourRefusal = (max: number, nowMs: number): CodedError =>
  tooMany('codes of this account in this hour', max, HOUR - (nowMs % HOUR));

function tooMany(what: string, limit: number, ms: number): CodedError {
  const seconds = Math.max(1, Math.ceil(ms / SECOND));
  return new CodedError('RATE_LIMIT_EXCEEDED', `Too many ${what}: try again in ${seconds} seconds.`, {
    retry_after: seconds,
    limit,
  });
}
