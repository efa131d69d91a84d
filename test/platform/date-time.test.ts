import { expect, test } from 'vitest';
import { parseDateTime } from '../../src/platform/date-time.ts';

const iso = (text: string): string | undefined => {
  const ms = parseDateTime(text);
  return ms === undefined ? undefined : new Date(ms).toISOString();
};

test.each([
  ['2026-01-31', '2026-01-31T00:00:00.000Z'],
  ['2026-01-31T07:58', '2026-01-31T07:58:00.000Z'],
  ['2026-01-31 07:58:39.5', '2026-01-31T07:58:39.500Z'],
  ['2026-01-31T07:58:39Z', '2026-01-31T07:58:39.000Z'],
  ['2026-01-31t07:58:39z', '2026-01-31T07:58:39.000Z'],
  ['2026-01-31T07:58:39+02:00', '2026-01-31T05:58:39.000Z'],
  ['2026-01-31T07:58:39-0530', '2026-01-31T13:28:39.000Z'],
  [' 2024-02-29 ', '2024-02-29T00:00:00.000Z'],
  ['0001-01-01', '0001-01-01T00:00:00.000Z'],
  ['9999-12-31T23:59:59.999Z', '9999-12-31T23:59:59.999Z'],
])('%s is parsed in UTC unless it has an offset', (text, expected) => {
  expect(iso(text)).toBe(expected);
});

test.each([
  '',
  'now',
  '2026-02-30',
  '2026-13-01',
  '2026-01-31T25:00Z',
  '2026-1-31',
  '2026-01-31T07',
  '1769846319',
  '0000-01-01',
])('%j is rejected', text => {
  expect(iso(text)).toBeUndefined();
});

test.each(['0001-01-01T00:00+05:00', '9999-12-31T23:00-05:00'])(
  '%s is rejected: its year in UTC is not supported by PostgreSQL',
  text => {
    expect(iso(text)).toBeUndefined();
  },
);
