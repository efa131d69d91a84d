import fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  percentageOf,
  periodOf,
  remainingOf,
  subscriptionStatus,
} from '../../../../src/features/tenancy/account/account.ts';
import { monthOf } from '../../../../src/features/tenancy/usage/usage.ts';

const counts = fc.record({ current: fc.nat(2 ** 40), limit: fc.nat(2 ** 40) });

test('what remains is never below 0, and with what there is makes the limit unless that is passed', () => {
  fc.assert(
    fc.property(counts, count => {
      const remaining = remainingOf(count) ?? Number.NaN;
      expect(remaining).toBeGreaterThanOrEqual(0);
      expect(count.current + remaining).toBe(Math.max(count.current, count.limit));
    }),
  );
});

test('a percentage has two decimals at most, is right to half of the last, and is 100 or more exactly when nothing remains', () => {
  const near = fc
    .tuple(fc.nat(2 ** 40), fc.integer({ min: -3, max: 3 }))
    .map(([limit, off]) => ({ limit, current: Math.max(0, limit + off) }));
  fc.assert(
    fc.property(fc.oneof(counts, near), count => {
      const percentage = percentageOf(count) ?? Number.NaN;
      expect(String(percentage)).toMatch(/^\d+(\.\d{1,2})?$/);
      expect(percentage >= 100).toBe(remainingOf(count) === 0);
      if (count.limit > 0) {
        const exact = (count.current / count.limit) * 100;
        expect(Math.abs(percentage - exact)).toBeLessThanOrEqual(
          exact < 100 && exact > 99.99 ? 0.01 : 0.005 + exact * 1e-12,
        );
      }
    }),
  );
});

test.each([
  [{ current: 0, limit: 0 }, 100, 0],
  [{ current: 5, limit: 0 }, 100, 0],
  [{ current: 0, limit: 3 }, 0, 3],
  [{ current: 2, limit: 3 }, 66.67, 1],
  [{ current: 499_999, limit: 500_000 }, 99.99, 1],
  [{ current: 3, limit: 3 }, 100, 0],
  [{ current: 4, limit: 3 }, 133.33, 0],
  [{ current: 7, limit: null }, null, null],
])('of %j %d per cent are used and %d remain', (count, percentage, remaining) => {
  expect([percentageOf(count), remainingOf(count)]).toEqual([percentage, remaining]);
});

test('the period of an instant holds it, begins at midnight UTC, and ends where the next one begins', () => {
  fc.assert(
    fc.property(fc.date({ min: new Date('2000-01-01'), max: new Date('2100-01-01'), noInvalidDate: true }), instant => {
      const { start, end } = periodOf(monthOf(instant.getTime()));
      expect(start <= instant.toISOString() && instant.toISOString() < end).toBe(true);
      expect(start).toMatch(/-01T00:00:00\.000Z$/);
      expect(periodOf(monthOf(Date.parse(end))).start).toBe(end);
      expect(monthOf(Date.parse(end) - 1)).toBe(monthOf(instant.getTime()));
    }),
  );
});

test('a subscription expires at its end and not before; suspension goes before expiry', () => {
  const end = '2026-06-01T00:00:00.000Z';
  const at = Date.parse(end);
  const status = (status: 'active' | 'suspended', plan_expires_at: string | null, nowMs: number) =>
    subscriptionStatus({ status, plan_expires_at }, nowMs);
  expect(status('active', end, at - 1)).toBe('active');
  expect(status('active', end, at)).toBe('expired');
  expect(status('active', null, at)).toBe('active');
  expect(status('suspended', end, at)).toBe('suspended');
  expect(status('suspended', null, at)).toBe('suspended');
});
