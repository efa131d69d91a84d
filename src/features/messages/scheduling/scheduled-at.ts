import { invalid } from '../../../core/errors.ts';
import { DAY } from '../../../platform/clock.ts';
import { parseDateTime } from '../../../platform/date-time.ts';
import { instantIn, type Whereabouts, zonesOfPerson } from '../../../platform/time-zones.ts';

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
 * The instant at which to send. A local time is one of the recipient's own zone, else of the country of the number or user id; where that
 * has several zones, the last of them, so that the time has come in all. A recipient with none of these is taken to be in UTC.
 * @throws VALIDATION_ERROR for a time that is malformed, past, or more than a year ahead
 */
export function scheduledInstant(
  { instant, recipientLocalTime }: ScheduledAt,
  recipient: Whereabouts,
  nowMs: number,
): string {
  const field = fieldOf({ recipientLocalTime });
  const atMs =
    recipientLocalTime == null ? Date.parse(instant ?? '') : localMs(recipientLocalTime, zonesOfPerson(recipient));
  if (!Number.isFinite(atMs)) throw invalid({ [field]: ['Must be a time such as 2026-12-24T09:00.'] });
  if (atMs <= nowMs) throw invalid({ [field]: ['Has passed.'] }, 'OUT_OF_RANGE');
  if (atMs > nowMs + MAX_AHEAD_MS) throw invalid({ [field]: ['May be at most a year ahead.'] }, 'OUT_OF_RANGE');
  return new Date(atMs).toISOString();
}

/** The input field of a fault. */
export const fieldOf = ({ recipientLocalTime }: ScheduledAt): string =>
  recipientLocalTime == null ? 'scheduledAt.instant' : 'scheduledAt.recipientLocalTime';

/** A day that does not exist is no time: Date.parse would read the 30th of February as the 2nd of March. */
const localMs = (local: string, zones: readonly string[]): number =>
  LOCAL.test(local) && parseDateTime(local) !== undefined ? instantIn(zones, local) : Number.NaN;
