import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type Cap, capRefusal, hourOf, hourRefusal, waitMs } from '../../../src/features/otp/caps.ts';

describe('the wait until a cap allows another use', () => {
  const cap = (max: number): Cap => ({ counter: 'sends', max, windowMs: 1_000, what: 'codes' });
  const iso = (ms: number): string => new Date(ms).toISOString();
  const times = fc.array(fc.integer({ min: 0, max: 3_000 }), { maxLength: 12 });

  test('ends exactly when fewer uses than the maximum are in the window', () => {
    fc.assert(
      fc.property(times, fc.integer({ min: 1, max: 5 }), (instants, max) => {
        const now = 3_000;
        const wait = waitMs(cap(max), instants.map(iso), now);
        const left = (at: number): number => instants.filter(instant => instant > at - 1_000).length;
        expect(left(now + wait)).toBeLessThan(max);
        if (wait > 0) expect(left(now + wait - 1)).toBeGreaterThanOrEqual(max);
      }),
    );
  });

  test('is reported in whole seconds, rounded up, for the cap with the longest wait', () => {
    const use = { sends: [iso(0), iso(1)], resends: [iso(0)], verifications: [], failures: [], now: iso(1_000) };
    const caps: Cap[] = [
      { ...cap(2), windowMs: 61_500 },
      { counter: 'resends', max: 1, windowMs: 5_000, what: 'codes' },
    ];
    expect(capRefusal(caps, use).details).toEqual({ retry_after: 61, limit: 2 });
    const late = Date.parse('2026-11-21T04:59:59.500Z');
    expect(hourOf(late)).toBe('2026-11-21T04:00:00.000Z');
    expect(hourRefusal(7, late).details).toEqual({ retry_after: 1, limit: 7 });
  });
});
