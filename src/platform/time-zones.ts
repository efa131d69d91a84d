import { getCountries, getCountryCallingCode, parsePhoneNumberFromString } from 'libphonenumber-js/min';
import { HOUR, MINUTE, SECOND } from './clock.ts';

/** The countries of each calling code. Made when it is first used. */
let countriesByCode: ReadonlyMap<string, readonly string[]> | undefined;

function countriesOf(code: string): readonly string[] | undefined {
  countriesByCode ??= Map.groupBy(getCountries(), country => String(getCountryCallingCode(country)));
  return countriesByCode.get(code);
}

/**
 * The country of an E.164 number, ISO 3166-1 alpha-2. Codes that several countries share are told apart by what follows, which takes
 * 60 µs; all others by themselves.
 */
export function countryOfNumber(e164: string): string | undefined {
  for (let length = 2; length <= 4; length += 1) {
    const countries = countriesOf(e164.slice(1, length));
    if (countries) return countries.length === 1 ? countries[0] : parsePhoneNumberFromString(e164)?.country;
  }
  return undefined;
}

/** Part of ECMA-402 (Intl Locale Info), which the types of TypeScript lack. */
type LocaleWithZones = Intl.Locale & { getTimeZones?(): string[] | undefined };

const zones = new Map<string, readonly string[]>();

/** The time zones of a country; UTC for one that is not known. */
function zonesOf(country: string | undefined): readonly string[] {
  if (country === undefined) return ['UTC'];
  const known = zones.get(country);
  if (known) return known;
  const found = (new Intl.Locale('und', { region: country }) as LocaleWithZones).getTimeZones?.() ?? [];
  zones.set(country, found.length > 0 ? found : ['UTC']);
  return zonesOf(country);
}

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

/** Whether it is within the times of day in every zone of a country. */
export const isPermitted = (country: string | undefined, times: TimesOfDay, atMs: number): boolean =>
  zonesOf(country).every(zone => isWithin(localMinute(zone, atMs), times));

const STEP_MS = 15 * MINUTE;

/**
 * The next time, in steps of a quarter of an hour, that is within the times of day in every zone of a country.
 * @returns undefined if there is none, because the country is too wide for such a short time
 */
export function nextPermitted(country: string | undefined, times: TimesOfDay, afterMs: number): number | undefined {
  const first = Math.ceil(afterMs / STEP_MS) * STEP_MS;
  for (let atMs = first; atMs <= first + 25 * HOUR; atMs += STEP_MS) if (isPermitted(country, times, atMs)) return atMs;
  return undefined;
}

/** Difference of a zone's clock to UTC at an instant, in milliseconds. */
function offsetMs(zone: string, atMs: number): number {
  const parts = new Intl.DateTimeFormat('en-US', { timeZone: zone, timeZoneName: 'longOffset' }).formatToParts(atMs);
  const name = parts.find(({ type }) => type === 'timeZoneName')?.value ?? '';
  const [, sign = '+', hours = '0', minutes = '0', seconds = '0'] =
    /GMT([+-])(\d\d):(\d\d)(?::(\d\d))?/.exec(name) ?? [];
  return (sign === '-' ? -1 : 1) * (Number(hours) * HOUR + Number(minutes) * MINUTE + Number(seconds) * SECOND);
}

/**
 * The instant at which the clocks of every zone of a country show a local time (`YYYY-MM-DDTHH:MM`) or a later one. Of a time that a change
 * of the clocks leaves out or repeats, one of the two readings.
 */
export const instantIn = (country: string | undefined, local: string): number =>
  Math.max(
    ...zonesOf(country).map(zone => {
      const utcMs = Date.parse(`${local}Z`);
      return utcMs - offsetMs(zone, utcMs - offsetMs(zone, utcMs));
    }),
  );
