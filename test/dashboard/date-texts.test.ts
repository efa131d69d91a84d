import { expect, test } from 'vitest';
import { datesIn } from '../../src/dashboard/texts/date-texts.ts';

const { brief, day, moment } = datesIn('en');
const now = new Date('2026-02-03T12:00:00').getTime();
const at = (local: string): string => new Date(local).toISOString();

test('a date in another year has its year', () => {
  const [before, after] = [at('2025-02-03T12:00:00'), at('2027-02-02T12:00:00')];
  expect([brief(before, now), day(before, now), moment(before, now), moment(after, now)]).toEqual([
    expect.stringContaining('2025'),
    expect.stringContaining('2025'),
    expect.stringContaining('2025'),
    expect.stringContaining('2027'),
  ]);
});

test('a date in this year has none, nor have the days around the turn of the year', () => {
  const here = at('2026-01-05T12:00:00');
  const newYear = new Date('2026-01-01T12:00:00').getTime();
  const eve = at('2025-12-31T12:00:00');
  for (const text of [brief(here, now), day(here, now), moment(here, now), brief(eve, newYear), day(eve, newYear)])
    expect(text).not.toContain('202');
});

test('the formatters of a language are made once, not for each message and row', () => {
  expect(datesIn('de')).toBe(datesIn('de'));
  expect(datesIn('de')).not.toBe(datesIn('en'));
});
