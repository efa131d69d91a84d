import { InvalidArgumentError } from 'commander';
import { DAY, HOUR, MINUTE, systemClock } from '../platform/clock.ts';

const UNITS: Readonly<Record<string, number>> = { m: MINUTE, h: HOUR, d: DAY };

/** Reads an instant from the command line: `30d`, `12h`, `90m` from now, or ISO 8601. @returns ISO 8601 */
export function instant(text: string): string {
  const [, count, unit] = /^(\d+)([mhd])$/.exec(text) ?? [];
  const time =
    count !== undefined && unit !== undefined
      ? systemClock.now() + Number(count) * (UNITS[unit] ?? 0)
      : Date.parse(text);
  if (Number.isNaN(time) || Math.abs(time) > LATEST)
    throw new InvalidArgumentError('Use 30d, 12h, 90m, or an instant such as 2027-01-31T00:00:00Z.');
  return new Date(time).toISOString();
}

/** The end of the year 9999: years of five digits are written otherwise. */
const LATEST = Date.UTC(10_000, 0) - 1;
