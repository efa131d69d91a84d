import { InvalidArgumentError } from 'commander';
import { DAY, HOUR, MINUTE, systemClock } from '../platform/clock.ts';
import { parseDateTime } from '../platform/date-time.ts';
import { isPhoneCountry } from '../platform/phone.ts';

/** Parses a country. @returns ISO 3166-1 alpha-2, upper case */
export function country(text: string): string {
  const code = text.toUpperCase();
  if (!isPhoneCountry(code)) throw new InvalidArgumentError('Must be an ISO 3166-1 alpha-2 code, for example DE.');
  return code;
}

/** Parses a whole number above 0. */
export function positive(text: string): number {
  const number = Number(text);
  if (!Number.isInteger(number) || number < 1) throw new InvalidArgumentError('Must be a whole number above 0.');
  return number;
}

const UNITS: Readonly<Record<string, number>> = { m: MINUTE, h: HOUR, d: DAY };
/** The end of the year 9999: years of five digits have another syntax. */
const LATEST_MS = Date.UTC(10_000, 0) - 1;

/** Parses `30d`, `12h` or `90m` from now, or ISO 8601. @returns ISO 8601 */
export function instant(text: string): string {
  const [, count, unit] = /^(\d+)([mhd])$/.exec(text) ?? [];
  const ms =
    count !== undefined && unit !== undefined
      ? systemClock.now() + Number(count) * (UNITS[unit] ?? 0)
      : parseDateTime(text);
  if (ms === undefined || ms > LATEST_MS)
    throw new InvalidArgumentError('Use 30d, 12h, 90m, or an instant such as 2027-01-31T00:00:00Z.');
  return new Date(ms).toISOString();
}
