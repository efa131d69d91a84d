import { isTimeZone } from './calendar-intervals.ts';
import { HOUR, MINUTE, SECOND } from './clock.ts';
import { countryOfPerson } from './phone-country.ts';

/** Part of ECMA-402 (Intl Locale Info), which the types of TypeScript lack. */
type LocaleWithZones = Intl.Locale & { getTimeZones?(): string[] | undefined };

const UTC = ['UTC'] as const;
const zonesByCountry = new Map<string, readonly string[]>();
const ownZones = new Map<string, readonly string[] | undefined>();

/** All time zones of a country; UTC for one that is not known. The same array each time. */
export function zonesOfCountry(country: string | null): readonly string[] {
  if (country === null) return UTC;
  const known = zonesByCountry.get(country);
  if (known) return known;
  const found = (new Intl.Locale('und', { region: country }) as LocaleWithZones).getTimeZones?.() ?? [];
  const zones = found.length > 0 ? found : UTC;
  zonesByCountry.set(country, zones);
  return zones;
}

/** The same array each time. @returns undefined for a name that this process does not know */
function ownZone(name: string): readonly string[] | undefined {
  if (!ownZones.has(name)) ownZones.set(name, isTimeZone(name) ? [name] : undefined);
  return ownZones.get(name);
}

/** What tells where a person is. */
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
 * without any. The same array for the same zones, so that it can be a key.
 */
export const zonesOfPerson = ({ timeZone, phone, userId }: Whereabouts): readonly string[] =>
  (timeZone === null ? undefined : ownZone(timeZone)) ?? zonesOfCountry(countryOfPerson(phone, userId));

/** Times of day, `HH:MM`. The range may pass midnight; its end is excluded. */
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

/** Whether it is within the times of day in every one of the zones. */
export const isPermitted = (zones: readonly string[], times: TimesOfDay, atMs: number): boolean =>
  zones.every(zone => isWithin(localMinute(zone, atMs), times));

/** The clocks of the world differ by quarters of an hour. */
const QUARTER = 15;
/** Two days: a change of the clocks may leave a time of day out. */
const SEARCHED_MS = 49 * HOUR;

/**
 * The next time that is within the times of day in every one of the zones.
 * @returns undefined if there is none, because they are too far apart for such a short time
 */
export function nextPermitted(zones: readonly string[], times: TimesOfDay, afterMs: number): number | undefined {
  const stepMs = commonStep(commonStep(QUARTER, minutesOf(times.start)), minutesOf(times.end)) * MINUTE;
  const first = Math.ceil(afterMs / stepMs) * stepMs;
  for (let atMs = first; atMs <= first + SEARCHED_MS; atMs += stepMs) if (isPermitted(zones, times, atMs)) return atMs;
  return undefined;
}

/** The greatest common divisor. */
const commonStep = (a: number, b: number): number => (b === 0 ? a : commonStep(b, a % b));

/** Difference of a zone's clock to UTC at an instant, in milliseconds. */
function offsetMs(zone: string, atMs: number): number {
  const parts = new Intl.DateTimeFormat('en-US', { timeZone: zone, timeZoneName: 'longOffset' }).formatToParts(atMs);
  const name = parts.find(({ type }) => type === 'timeZoneName')?.value ?? '';
  const [, sign = '+', hours = '0', minutes = '0', seconds = '0'] =
    /GMT([+-])(\d\d):(\d\d)(?::(\d\d))?/.exec(name) ?? [];
  return (sign === '-' ? -1 : 1) * (Number(hours) * HOUR + Number(minutes) * MINUTE + Number(seconds) * SECOND);
}

/**
 * The instant at which the clocks of all zones show a local time (`YYYY-MM-DDTHH:MM`) or a later one. Of a time that a change
 * of the clocks leaves out or repeats, one of the two readings.
 */
export const instantIn = (zones: readonly string[], local: string): number =>
  Math.max(
    ...zones.map(zone => {
      const utcMs = Date.parse(`${local}Z`);
      return utcMs - offsetMs(zone, utcMs - offsetMs(zone, utcMs));
    }),
  );
