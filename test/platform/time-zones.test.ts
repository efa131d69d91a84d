import { expect, test } from 'vitest';
import { HOUR, MINUTE, SECOND } from '../../src/platform/clock.ts';
import { COUNTRIES } from '../../src/platform/countries.ts';
import {
  instantIn,
  isPermitted,
  nextPermitted,
  offsetsOf,
  zonesOfCountry,
  zonesOfPerson,
} from '../../src/platform/time-zones.ts';

const zonesOf = (timeZone: string | null, phone: string | null, userId: string | null = null) =>
  zonesOfPerson({ timeZone, phone, userId });
const at = (text: string): number => Date.parse(text);
const DAY_TIME = { start: '09:00', end: '20:00' };

test('a person is in their own time zone, else in those of the country of their number or user id, else in UTC', () => {
  expect(zonesOf('Asia/Tokyo', '+4915712345678')).toEqual(['Asia/Tokyo']);
  expect(zonesOf(null, '+77011234567')).toBe(zonesOfCountry('KZ'));
  expect(zonesOf(null, '+14165550123')).toContain('America/Toronto');
  expect(zonesOf(null, '+14155550123')).toContain('Pacific/Honolulu');
  expect(zonesOf(null, null, 'BR.1349')).toBe(zonesOfCountry('BR'));
  expect(zonesOf(null, '+4915712345678', 'BR.1349')).toBe(zonesOfCountry('DE'));
  expect([zonesOf(null, null), zonesOf(null, '+9991234')]).toEqual([['UTC'], ['UTC']]);
  expect(zonesOf('Asia/Tokyo', null)).toBe(zonesOf('Asia/Tokyo', '+14155550123'));
});

test('a time is permitted where it is permitted in all zones of the country, in summer as in winter', () => {
  expect(isPermitted(zonesOfCountry('DE'), DAY_TIME, at('2026-07-01T07:00Z'))).toBe(true);
  expect(isPermitted(zonesOfCountry('DE'), DAY_TIME, at('2026-01-01T07:30Z'))).toBe(false);
  expect(isPermitted(zonesOfCountry('DE'), DAY_TIME, at('2026-01-01T08:00Z'))).toBe(true);
  expect(isPermitted(zonesOfCountry('DE'), DAY_TIME, at('2026-01-01T19:00Z'))).toBe(false);
  // It is morning in New York, and night in Hawaii.
  expect(isPermitted(zonesOfCountry('US'), DAY_TIME, at('2026-01-01T15:00Z'))).toBe(false);
  expect(isPermitted(zonesOfCountry('US'), DAY_TIME, at('2026-01-01T20:00Z'))).toBe(true);
});

test('a range may pass midnight', () => {
  const night = { start: '22:00', end: '06:00' };
  const permitted = (time: string): boolean => isPermitted(zonesOfCountry('GB'), night, at(`2026-01-01T${time}Z`));
  expect(['21:59', '22:00', '05:59', '06:00'].map(permitted)).toEqual([false, true, true, false]);
});

test('the next permitted time in every country is permitted, and no earlier quarter of an hour is', () => {
  const nowMs = at('2026-03-28T23:07Z');
  for (const { alpha2 } of COUNTRIES) {
    const zones = zonesOfCountry(alpha2);
    const next = nextPermitted(zones, DAY_TIME, nowMs);
    if (next === undefined) continue;
    expect(next - nowMs).toBeLessThanOrEqual(26 * HOUR);
    expect(isPermitted(zones, DAY_TIME, next)).toBe(true);
    const before = next - 15 * MINUTE;
    if (before >= nowMs) expect(isPermitted(zones, DAY_TIME, before)).toBe(false);
  }
  expect(nextPermitted(zonesOfCountry('US'), DAY_TIME, nowMs)).toBeDefined();
  expect(nextPermitted(zonesOfCountry('RU'), { start: '12:00', end: '12:30' }, nowMs)).toBeUndefined();
});

test('a range of few minutes, at any minute, has a next time: its start', () => {
  for (let start = 0; start < 24 * 60; start += 7) {
    const time = (minutes: number): string =>
      `${String(Math.floor(minutes / 60) % 24).padStart(2, '0')}:${String(minutes % 60).padStart(2, '0')}`;
    const range = { start: time(start), end: time(start + 3) };
    const next = nextPermitted(zonesOfCountry('IN'), range, at('2026-07-01T00:00Z')) ?? 0;
    const local = new Intl.DateTimeFormat('en-GB', { timeZone: 'Asia/Kolkata', timeStyle: 'short' }).format(next);
    // Half past five, as it is at midnight UTC, is within the range that has begun a moment before.
    expect(local).toBe(range.start === '05:29' ? '05:30' : range.start);
  }
});

test('a time of day skipped by a clock change is that of the next day; a repeated one is the first', () => {
  const early = { start: '02:10', end: '02:50' };
  const next = (after: string): string =>
    new Date(nextPermitted(['Europe/Berlin'], early, at(after)) ?? 0).toISOString();
  // 29 March 2026: from 02:00 to 03:00. 25 October: 02:00 to 03:00 twice.
  expect(next('2026-03-28T01:50Z')).toBe('2026-03-30T00:10:00.000Z');
  expect(next('2026-10-24T12:00Z')).toBe('2026-10-25T00:10:00.000Z');
  expect(next('2026-10-25T00:50Z')).toBe('2026-10-25T01:10:00.000Z');
  expect(next('2026-10-25T01:50Z')).toBe('2026-10-26T01:10:00.000Z');
});

test('a local time that a clock change skips is as much later as the clocks are put forward, east and west of Greenwich', () => {
  const instant = (zone: string, local: string): string =>
    new Date(instantIn([zone], local)).toISOString().slice(0, 16);
  expect(instant('Europe/Berlin', '2026-03-29T02:30')).toBe('2026-03-29T01:30');
  expect(instant('Europe/London', '2026-03-29T01:30')).toBe('2026-03-29T01:30');
  expect(instant('America/New_York', '2026-03-08T02:30')).toBe('2026-03-08T07:30');
  expect(instant('America/Los_Angeles', '2026-03-08T02:00')).toBe('2026-03-08T10:00');
  expect(instant('Australia/Lord_Howe', '2026-10-04T02:10')).toBe('2026-10-03T15:40');
  // Samoa had no 30 December 2011.
  expect(instant('Pacific/Apia', '2011-12-30T09:00')).toBe('2011-12-30T19:00');
});

test('a local time that a clock change repeats is the first of the two, east and west of Greenwich', () => {
  const instant = (zone: string, local: string): string =>
    new Date(instantIn([zone], local)).toISOString().slice(0, 16);
  expect(instant('Europe/Berlin', '2026-10-25T02:30')).toBe('2026-10-25T00:30');
  expect(instant('America/New_York', '2026-11-01T01:30')).toBe('2026-11-01T05:30');
});

test('the clock of a zone shows a local time, or a later one, at its instant and not a second before', () => {
  const shown = (zone: string, atMs: number): number => atMs + offsetsOf(zone)(atMs);
  const zones = ['America/New_York', 'Australia/Lord_Howe', 'Asia/Kathmandu', 'Europe/Berlin', 'Pacific/Kiritimati'];
  for (const zone of zones)
    for (let localMs = at('2026-01-01T00:10Z'); localMs < at('2027-01-01T00:00Z'); localMs += 43 * HOUR + 20 * MINUTE) {
      const instantMs = instantIn([zone], new Date(localMs).toISOString().slice(0, 16));
      expect(shown(zone, instantMs)).toBeGreaterThanOrEqual(localMs);
      expect(shown(zone, instantMs - SECOND)).toBeLessThan(shown(zone, instantMs));
    }
});
