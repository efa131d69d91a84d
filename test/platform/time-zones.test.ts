import { expect, test } from 'vitest';
import { HOUR, MINUTE } from '../../src/platform/clock.ts';
import { countryOfNumber, isPermitted, nextPermitted } from '../../src/platform/time-zones.ts';
import { COUNTRIES } from '../../src/schema/countries/country.ts';

const at = (text: string): number => Date.parse(text);
const DAY_TIME = { start: '09:00', end: '20:00' };

test('the country of a number is found, also where countries share a calling code', () => {
  const numbers = ['+4915712345678', '+14155550123', '+14165550123', '+16715550123', '+77011234567', '+35312345678'];
  expect(numbers.map(countryOfNumber)).toEqual(['DE', 'US', 'CA', 'GU', 'KZ', 'IE']);
  expect(countryOfNumber('+9991234')).toBeUndefined();
});

test('a time is permitted where it is permitted in all zones of the country, in summer as in winter', () => {
  expect(isPermitted('DE', DAY_TIME, at('2026-07-01T07:00Z'))).toBe(true);
  expect(isPermitted('DE', DAY_TIME, at('2026-01-01T07:30Z'))).toBe(false);
  expect(isPermitted('DE', DAY_TIME, at('2026-01-01T08:00Z'))).toBe(true);
  expect(isPermitted('DE', DAY_TIME, at('2026-01-01T19:00Z'))).toBe(false);
  // It is morning in New York, and night in Hawaii.
  expect(isPermitted('US', DAY_TIME, at('2026-01-01T15:00Z'))).toBe(false);
  expect(isPermitted('US', DAY_TIME, at('2026-01-01T20:00Z'))).toBe(true);
});

test('a range may pass midnight', () => {
  const night = { start: '22:00', end: '06:00' };
  const permitted = (time: string): boolean => isPermitted('GB', night, at(`2026-01-01T${time}Z`));
  expect(['21:59', '22:00', '05:59', '06:00'].map(permitted)).toEqual([false, true, true, false]);
});

test('the next permitted time in every country is permitted, and no earlier quarter of an hour is', () => {
  const nowMs = at('2026-03-28T23:07Z');
  for (const { alpha2 } of COUNTRIES) {
    const next = nextPermitted(alpha2, DAY_TIME, nowMs);
    if (next === undefined) continue;
    expect(next - nowMs).toBeLessThanOrEqual(26 * HOUR);
    expect(isPermitted(alpha2, DAY_TIME, next)).toBe(true);
    const before = next - 15 * MINUTE;
    if (before >= nowMs) expect(isPermitted(alpha2, DAY_TIME, before)).toBe(false);
  }
  expect(nextPermitted('US', DAY_TIME, nowMs)).toBeDefined();
  expect(nextPermitted('RU', { start: '12:00', end: '12:30' }, nowMs)).toBeUndefined();
});
