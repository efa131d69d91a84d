import { DAY, HOUR } from './clock.ts';
import { firstInstantAt, offsetsOf } from './time-zones.ts';

/** Intervals of the civil calendar. Weeks begin on Monday (ISO 8601). */
export type CalendarInterval = 'hour' | 'day' | 'week' | 'month';

/** The local time that begins the interval of a local time; `next`: the one after it. */
function localStart(interval: Exclude<CalendarInterval, 'hour'>, localMs: number, next: 0 | 1): number {
  const day = Math.floor(localMs / DAY);
  switch (interval) {
    case 'day':
      return (day + next) * DAY;
    case 'week':
      // The first day of the epoch was a Thursday.
      return (day - ((((day + 3) % 7) + 7) % 7) + 7 * next) * DAY;
    case 'month': {
      const date = new Date(localMs);
      return Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + next);
    }
    default:
      return interval satisfies never;
  }
}

/**
 * Starts of the intervals that contain an instant of `[sinceMs, untilMs)`, ascending; the first may be before `sinceMs`.
 * @param limit maximum number of starts
 */
export function intervalStarts(
  interval: CalendarInterval,
  zone: string,
  sinceMs: number,
  untilMs: number,
  limit: number,
): number[] {
  const offsetAt = offsetsOf(zone);
  const hourOf = (ms: number): number => Math.floor((ms + offsetAt(ms)) / HOUR) * HOUR - offsetAt(ms);
  const starts: number[] = [];
  let local = interval === 'hour' ? 0 : localStart(interval, sinceMs + offsetAt(sinceMs), 0);
  let start = interval === 'hour' ? hourOf(sinceMs) : firstInstantAt(local, offsetAt);
  while (start < untilMs && starts.length < limit) {
    starts.push(start);
    if (interval === 'hour') start = hourOf(start + HOUR);
    else {
      local = localStart(interval, local, 1);
      start = firstInstantAt(local, offsetAt);
    }
  }
  return starts;
}
