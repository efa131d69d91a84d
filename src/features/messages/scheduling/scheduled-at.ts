import { invalid } from '../../../core/errors.ts';
import { DAY } from '../../../platform/clock.ts';
import { countryOfNumber, instantIn } from '../../../platform/time-zones.ts';

/** When to send a message; one of the two. */
export interface ScheduledAt {
  readonly instant?: string | null | undefined;
  /** `YYYY-MM-DDTHH:MM`, on the clock of the recipient. */
  readonly recipientLocalTime?: string | null | undefined;
}

/** Farthest time of a scheduled message. */
const MAX_AHEAD_MS = 366 * DAY;

const LOCAL = /^\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d)?$/;

/**
 * The instant at which to send. A local time is one of the country of the recipient's number; where that has several zones, the last of
 * them, so that the time has come in all. A recipient without a number is taken to be in UTC.
 * @throws VALIDATION_ERROR for a time that is malformed, past, or more than a year ahead
 */
export function scheduledInstant(
  { instant, recipientLocalTime }: ScheduledAt,
  phone: string | null,
  nowMs: number,
): string {
  const field = recipientLocalTime == null ? 'scheduledAt.instant' : 'scheduledAt.recipientLocalTime';
  const atMs = recipientLocalTime == null ? Date.parse(instant ?? '') : localMs(recipientLocalTime, phone);
  if (!Number.isFinite(atMs)) throw invalid({ [field]: ['Must be a time such as 2026-12-24T09:00.'] });
  if (atMs <= nowMs) throw invalid({ [field]: ['Has passed.'] }, 'OUT_OF_RANGE');
  if (atMs > nowMs + MAX_AHEAD_MS) throw invalid({ [field]: ['May be at most a year ahead.'] }, 'OUT_OF_RANGE');
  return new Date(atMs).toISOString();
}

const localMs = (local: string, phone: string | null): number =>
  LOCAL.test(local) ? instantIn(phone === null ? undefined : countryOfNumber(phone), local) : Number.NaN;
