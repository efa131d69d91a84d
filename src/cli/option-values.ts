import { readFile } from 'node:fs/promises';
import { InvalidArgumentError } from 'commander';
import { FEATURES, type Feature } from '../core/plan-features.ts';
import { parseScopes } from '../core/scopes.ts';
import { DAY, HOUR, MINUTE, systemClock } from '../platform/clock.ts';
import { parseDateTime } from '../platform/date-time.ts';
import { UserError } from '../platform/user-error.ts';

const UNLIMITED = 'unlimited';

/** Prints a maximum of a plan. */
export const limit = (maximum: number | null): number | string => maximum ?? UNLIMITED;

/** Parses a maximum of a plan: a whole number, or `unlimited`. */
export function maximum(text: string): number | typeof UNLIMITED {
  if (text === UNLIMITED) return UNLIMITED;
  const number = Number(text);
  if (text.trim() === '' || !Number.isSafeInteger(number) || number < 0)
    throw new InvalidArgumentError(`Must be a whole number, or ${UNLIMITED}.`);
  return number;
}

/** The stored form of a parsed maximum. */
export const maximumOf = (value: number | typeof UNLIMITED | undefined): number | null | undefined =>
  value === UNLIMITED ? null : value;

/** The largest `integer` of PostgreSQL. */
const MAX_INTEGER = 2_147_483_647;

/** Parses a whole number above 0 that the database stores as `integer`. */
export function positive(text: string): number {
  const number = Number(text);
  if (!/^\d+$/.test(text) || number < 1 || number > MAX_INTEGER)
    throw new InvalidArgumentError(`Must be a whole number from 1 to ${MAX_INTEGER}.`);
  return number;
}

/** Parses the id of an object, a whole number above 0. */
export function objectId(text: string): number {
  if (!/^[1-9]\d{0,14}$/.test(text)) throw new InvalidArgumentError('Must be an id, such as 12.');
  return Number(text);
}

/** Parses scopes in any accepted spelling, with commas between them. */
export function scopeNames(text: string): readonly string[] {
  const words = text.split(',');
  const { unknown } = parseScopes(words);
  if (unknown.length > 0) throw new InvalidArgumentError(`Not a scope: ${unknown.join(', ')}.`);
  return words;
}

/** Parses the features of a plan, with commas between them; `*` is every feature. */
export function features(text: string): readonly Feature[] {
  if (text === '*') return FEATURES;
  const names = text
    .split(',')
    .map(name => name.trim())
    .filter(Boolean);
  const isFeature = (name: string): name is Feature => (FEATURES as readonly string[]).includes(name);
  const unknown = names.filter(name => !isFeature(name));
  if (unknown.length > 0)
    throw new InvalidArgumentError(`Unknown features: ${unknown.join(', ')}. There are ${FEATURES.join(', ')}.`);
  return names.filter(isFeature);
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

/**
 * Reads a secret. On the command line every user of the machine can read it while the command runs: `@file` reads it from a file.
 * @throws UserError if the file cannot be read
 */
export async function secretOf(value: string): Promise<string> {
  if (!value.startsWith('@')) return value;
  const file = value.slice(1);
  const text = await readFile(file, 'utf8').catch((error: Error) => {
    throw new UserError(`${file} cannot be read: ${error.message}`, { cause: error });
  });
  return text.trim();
}
