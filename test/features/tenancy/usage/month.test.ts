import fc from 'fast-check';
import { expect, test } from 'vitest';
import { monthOf, SHARDS, shareOut } from '../../../../src/features/tenancy/usage/month.ts';

const sum = (numbers: readonly number[]): number => numbers.reduce((total, number) => total + number, 0);
const counts = fc.array(fc.nat(1_000), { minLength: SHARDS, maxLength: SHARDS });
const maxima = fc.nat(20_000);
const shards = fc.nat(SHARDS - 1);

test('what is granted never passes the plan, takes nothing away, and leaves nothing over', () => {
  fc.assert(
    fc.property(counts, maxima, shards, (used, maximum, first) => {
      const granted = shareOut(used, maximum, first).map(Number);
      expect(sum(granted)).toBe(Math.max(maximum, sum(used)));
      for (const [shard, count] of used.entries()) expect(granted[shard]).toBeGreaterThanOrEqual(count);
    }),
  );
});

test('who asks gets some as long as there is any', () => {
  fc.assert(
    fc.property(counts, maxima, shards, (used, maximum, first) => {
      const granted = shareOut(used, maximum, first);
      expect(Number(granted[first]) > (used[first] ?? 0)).toBe(maximum > sum(used));
    }),
  );
});

test('an unlimited plan grants without a limit', () => {
  expect(shareOut([3, 0], null, 1)).toEqual([null, null]);
});

test('a month begins at midnight UTC', () => {
  expect(monthOf(Date.parse('2026-12-31T23:59:59.999Z'))).toBe('2026-12-01');
  expect(monthOf(Date.parse('2027-01-01T00:00:00Z'))).toBe('2027-01-01');
});
