import { DAY, HOUR } from './clock.ts';

/** Intervals of the civil calendar. Weeks begin on Monday (ISO 8601). */
export type CalendarInterval = 'hour' | 'day' | 'week' | 'month';

/** Whether this is a name of the IANA time zone database. Offsets such as +01:00 are not: they have no summer time. */
export function isTimeZone(name: string): boolean {
  if (!/^[A-Za-z][A-Za-z0-9_+\-/]{0,63}$/.test(name)) return false;
  try {
    new Intl.DateTimeFormat('en', { timeZone: name });
    return true;
  } catch {
    return false;
  }
}

/** Offset of a zone from UTC at an instant, in milliseconds, east positive. */
type OffsetAt = (ms: number) => number;

function offsetsOf(zone: string): OffsetAt {
  if (zone === 'UTC') return () => 0;
  const format = new Intl.DateTimeFormat('en', {
    timeZone: zone,
    hourCycle: 'h23',
    year: 'numeric',
    month: 'numeric',
    day: 'numeric',
    hour: 'numeric',
    minute: 'numeric',
    second: 'numeric',
  });
  return ms => {
    const parts = new Map(format.formatToParts(ms).map(({ type, value }) => [type, Number(value)]));
    const at = (name: Intl.DateTimeFormatPartTypes): number => parts.get(name) ?? 0;
    const local = Date.UTC(at('year'), at('month') - 1, at('day'), at('hour'), at('minute'), at('second'));
    return local - Math.floor(ms / 1_000) * 1_000;
  };
}

/** The first instant at or after a local time: midnight does not exist on days on which the clock skips it. */
function instantOf(localMs: number, offsetAt: OffsetAt): number {
  const candidates = [localMs - DAY, localMs + DAY].map(near => localMs - offsetAt(near));
  const exact = candidates.filter(ms => ms + offsetAt(ms) === localMs);
  return exact.length > 0 ? Math.min(...exact) : Math.max(...candidates);
}

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
 * @param most stops after so many
 */
export function intervalStarts(
  interval: CalendarInterval,
  zone: string,
  sinceMs: number,
  untilMs: number,
  most: number,
): number[] {
  const offsetAt = offsetsOf(zone);
  const hourOf = (ms: number): number => Math.floor((ms + offsetAt(ms)) / HOUR) * HOUR - offsetAt(ms);
  const starts: number[] = [];
  let local = interval === 'hour' ? 0 : localStart(interval, sinceMs + offsetAt(sinceMs), 0);
  let start = interval === 'hour' ? hourOf(sinceMs) : instantOf(local, offsetAt);
  while (start < untilMs && starts.length < most) {
    starts.push(start);
    if (interval === 'hour') start = hourOf(start + HOUR);
    else {
      local = localStart(interval, local, 1);
      start = instantOf(local, offsetAt);
    }
  }
  return starts;
}
