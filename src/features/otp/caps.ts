import type { Config } from '../../config.ts';
import { CodedError } from '../../core/errors.ts';
import { DAY, HOUR, MINUTE, SECOND } from '../../platform/clock.ts';

/** The recent use of a phone number: instants in ISO 8601, oldest first. */
export interface PhoneUse {
  readonly sends: readonly string[];
  readonly resends: readonly string[];
  readonly verifications: readonly string[];
  readonly failures: readonly string[];
  /** Time of reading; all instants are by the database's clock. */
  readonly now: string;
}

/** At most `max` in any period of `windowMs`. */
export interface Cap {
  readonly counter: Exclude<keyof PhoneUse, 'now'>;
  readonly max: number;
  readonly windowMs: number;
  /** The counted things, for the error message `Too many ...`. */
  readonly what: string;
}

type Caps = Config['otp'];

/** Sends include resends: neither can be used for SMS pumping or to gain further guesses. */
export const sendCaps = ({ sendsPerDay }: Caps) =>
  ({
    sends: { counter: 'sends', max: sendsPerDay, windowMs: DAY, what: 'codes for this phone number today' },
    resends: { counter: 'resends', max: 3, windowMs: 5 * MINUTE, what: 'codes sent again to this phone number' },
  }) as const satisfies Record<string, Cap>;

/** Failures are counted per number, not per code: resending gains no further guesses. */
export const verifyCaps = ({ failuresPerDay }: Caps) =>
  ({
    verifications: { counter: 'verifications', max: 10, windowMs: MINUTE, what: 'verifications of this phone number' },
    failures: {
      counter: 'failures',
      max: failuresPerDay,
      windowMs: DAY,
      what: 'wrong codes for this phone number today',
    },
  }) as const satisfies Record<string, Cap>;

/** Older instants of a phone number do not count. */
export const LONGEST_WINDOW_MS = DAY;

/** The hour in which a tenant's sends are counted; ISO 8601. */
export const hourOf = (nowMs: number): string => new Date(nowMs - (nowMs % HOUR)).toISOString();

/**
 * Milliseconds until the cap allows another use; 0 if it does now.
 * @param instants in any order, including expired ones
 */
export function waitMs({ max, windowMs }: Cap, instants: readonly string[], nowMs: number): number {
  const ends = instants.map(instant => Date.parse(instant) + windowMs).filter(end => end > nowMs);
  ends.sort((a, b) => a - b);
  const needed = ends[ends.length - max];
  return needed === undefined ? 0 : needed - nowMs;
}

/** The error of the cap with the longest wait. */
export function capRefusal(caps: readonly Cap[], use: PhoneUse): CodedError {
  const nowMs = Date.parse(use.now);
  const [first] = caps.map(cap => ({ cap, ms: waitMs(cap, use[cap.counter], nowMs) })).sort((a, b) => b.ms - a.ms);
  return tooMany(first?.cap.what ?? 'calls', first?.cap.max ?? 0, first?.ms ?? 0);
}

export const hourRefusal = (max: number, nowMs: number): CodedError =>
  tooMany('codes of this account in this hour', max, HOUR - (nowMs % HOUR));

function tooMany(what: string, limit: number, ms: number): CodedError {
  const seconds = Math.max(1, Math.ceil(ms / SECOND));
  return new CodedError('RATE_LIMIT_EXCEEDED', `Too many ${what}: try again in ${seconds} seconds.`, {
    details: { retry_after: seconds, limit },
  });
}
