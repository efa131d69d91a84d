import { DAY, HOUR, MINUTE, SECOND } from './clock.ts';
import { countryOfPerson } from './phone-country.ts';

/** Part of ECMA-402 (Intl Locale Info), which the types of TypeScript lack. */
type LocaleWithZones = Intl.Locale & { getTimeZones?(): string[] | undefined };

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
export type OffsetAt = (ms: number) => number;

/** Returns the offset of a zone as a function of time. */
export function offsetsOf(zone: string): OffsetAt {
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
    return local - Math.floor(ms / SECOND) * SECOND;
  };
}

const UTC = ['UTC'] as const;
const zonesByCountry = new Map<string, readonly string[]>();
const singleZones = new Map<string, readonly string[] | undefined>();

/** Returns all time zones of a country; UTC if it is unknown. Always the same array for the same country. */
export function zonesOfCountry(country: string | null): readonly string[] {
  if (country === null) return UTC;
  const known = zonesByCountry.get(country);
  if (known) return known;
  const found = (new Intl.Locale('und', { region: country }) as LocaleWithZones).getTimeZones?.() ?? [];
  const zones = found.length > 0 ? found : UTC;
  zonesByCountry.set(country, zones);
  return zones;
}

/** Always the same array for the same name. @returns undefined if this process does not know the time zone */
function singleZone(name: string): readonly string[] | undefined {
  if (!singleZones.has(name)) singleZones.set(name, isTimeZone(name) ? [name] : undefined);
  return singleZones.get(name);
}

/** The data from which a person's time zones are derived. */
export interface Whereabouts {
  /** Of the contact. */
  readonly timeZone: string | null;
  /** E.164. */
  readonly phone: string | null;
  /** Business-scoped; of a person without a number. */
  readonly userId: string | null;
}

/**
 * The time zones in which a person may be: their own, else all those of the country of their number, or of their user id (`BR.…`); UTC
 * without either. Always the same array for the same zones, so that it can be the key of a map.
 */
export const zonesOfPerson = ({ timeZone, phone, userId }: Whereabouts): readonly string[] =>
  (timeZone === null ? undefined : singleZone(timeZone)) ?? zonesOfCountry(countryOfPerson(phone, userId));

/** A range of times of day, `HH:MM`. It may include midnight; its end is excluded. */
export interface TimesOfDay {
  readonly start: string;
  readonly end: string;
}

const minutesOf = (time: string): number => Number(time.slice(0, 2)) * 60 + Number(time.slice(3));

const formats = new Map<string, Intl.DateTimeFormat>();

/** Minute of the day in a zone. */
function localMinute(zone: string, atMs: number): number {
  const known = formats.get(zone);
  const format =
    known ?? new Intl.DateTimeFormat('en-GB', { timeZone: zone, hour: '2-digit', minute: '2-digit', hourCycle: 'h23' });
  if (!known) formats.set(zone, format);
  return minutesOf(format.format(atMs));
}

function isWithin(minute: number, { start, end }: TimesOfDay): boolean {
  const [from, to] = [minutesOf(start), minutesOf(end)];
  return from < to ? minute >= from && minute < to : minute >= from || minute < to;
}

/** Whether an instant is within the times of day in all zones. */
export const isPermitted = (zones: readonly string[], times: TimesOfDay, atMs: number): boolean =>
  zones.every(zone => isWithin(localMinute(zone, atMs), times));

/** Offsets of time zones are multiples of 15 minutes. */
const OFFSET_STEP_MINUTES = 15;
/** Two days and an hour: a time of day may not exist on a day on which the clocks change. */
const SEARCH_MS = 49 * HOUR;

/**
 * Returns the next instant that is within the times of day in all zones.
 * @returns undefined if there is none, because the zones are further apart than the range is long
 */
export function nextPermitted(zones: readonly string[], times: TimesOfDay, afterMs: number): number | undefined {
  const stepMs =
    greatestCommonDivisor(greatestCommonDivisor(OFFSET_STEP_MINUTES, minutesOf(times.start)), minutesOf(times.end)) *
    MINUTE;
  const first = Math.ceil(afterMs / stepMs) * stepMs;
  for (let atMs = first; atMs <= first + SEARCH_MS; atMs += stepMs) if (isPermitted(zones, times, atMs)) return atMs;
  return undefined;
}

const greatestCommonDivisor = (a: number, b: number): number => (b === 0 ? a : greatestCommonDivisor(b, a % b));

/**
 * Returns the first instant at which a clock shows a local time. A time that the clock skips when it is put forward is as much later as
 * it is put forward (RFC 5545, 3.3.5).
 * @param localMs as if it were UTC
 */
export function firstInstantAt(localMs: number, offsetAt: OffsetAt): number {
  const candidates = [localMs - DAY, localMs + DAY].map(near => localMs - offsetAt(near));
  const exact = candidates.filter(ms => ms + offsetAt(ms) === localMs);
  return exact.length > 0 ? Math.min(...exact) : Math.max(...candidates);
}

/** Returns the first instant at which the clocks of all zones show a local time (`YYYY-MM-DDTHH:MM`), or have skipped or passed it. */
export const instantIn = (zones: readonly string[], local: string): number =>
  Math.max(...zones.map(zone => firstInstantAt(Date.parse(`${local}Z`), offsetsOf(zone))));
