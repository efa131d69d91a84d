import fc from 'fast-check';
import { expect, test } from 'vitest';
import { parseRetryAfter, RETRY_DELAYS_MS, retryDelayMs } from '../../../../src/features/webhooks/delivery/verdict.ts';
import { DAY, HOUR, MINUTE, SECOND } from '../../../../src/platform/clock.ts';

test('the retry schedule is that of the contract', () => {
  expect(RETRY_DELAYS_MS).toEqual([
    5 * SECOND,
    5 * MINUTE,
    30 * MINUTE,
    2 * HOUR,
    5 * HOUR,
    10 * HOUR,
    14 * HOUR,
    20 * HOUR,
    24 * HOUR,
  ]);
  expect(retryDelayMs(10, undefined, 0)).toBeUndefined();
});

test('a retry is never earlier than the schedule or Retry-After, at most a tenth later, and Retry-After counts up to a day', () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: 9 }),
      fc.option(fc.integer({ min: 0, max: 10 * DAY }), { nil: undefined }),
      fc.double({ min: 0, max: 1, noNaN: true }),
      (attemptsSinceQueued, retryAfterMs, jitter) => {
        const ms = retryDelayMs(attemptsSinceQueued, retryAfterMs, jitter) ?? Number.NaN;
        const least = Math.max(RETRY_DELAYS_MS[attemptsSinceQueued - 1] ?? 0, Math.min(retryAfterMs ?? 0, DAY));
        expect(ms).toBeGreaterThanOrEqual(least);
        expect(ms).toBeLessThanOrEqual(Math.ceil(least * 1.1));
      },
    ),
  );
});

test.each([
  ['120', 120 * SECOND],
  [' 0 ', 0],
  ['Sat, 31 Jan 2026 08:00:00 GMT', 60 * SECOND],
  ['Sat, 31 Jan 2026 07:00:00 GMT', 0],
  ['Saturday, 31-Jan-26 08:00:00 GMT', 60 * SECOND],
  ['Sat Jan 31 08:00:00 2026', 60 * SECOND],
  ['-5', undefined],
  ['1.5', undefined],
  ['soon', undefined],
  ['2026-01-31', undefined],
  ['', undefined],
  [undefined, undefined],
])('Retry-After %j is read', (text, ms) => expect(parseRetryAfter(text, Date.parse('2026-01-31T07:59:00Z'))).toBe(ms));
