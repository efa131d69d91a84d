import fc from 'fast-check';
import { expect, test } from 'vitest';
import { backoffMs, decideNextStep } from '../../../../src/features/messages/dispatch/decide-next-step.ts';
import type { RetryClass } from '../../../../src/network/network.ts';
import { DAY, MINUTE } from '../../../../src/platform/clock.ts';

const attempt = { number: 1, ageMs: 0, reconcileMs: 30_000, jitter: 0 };
const refused = (retryClass: RetryClass, code = 1) =>
  ({ kind: 'refused', error: { code, title: 'T', details: 'D', retryClass } }) as const;

test('the retry class of the network’s error code decides on a retry', () => {
  expect(decideNextStep({ kind: 'accepted', wamid: 'w' }, attempt)).toMatchObject({ kind: 'sent', wamid: 'w' });
  expect(decideNextStep({ kind: 'in_doubt', reason: 'r' }, attempt)).toMatchObject({
    kind: 'retry',
    afterMs: 30_000,
    hold: 'no',
  });
  expect(decideNextStep({ kind: 'unsent', reason: 'r' }, attempt)).toMatchObject({ kind: 'retry', hold: 'briefly' });
  expect(decideNextStep(refused('no_retry'), attempt).kind).toBe('failed');
  expect(decideNextStep(refused('fix_request'), attempt).kind).toBe('failed');
  expect(decideNextStep(refused('auth', 190), attempt).kind).toBe('pause');
  expect(decideNextStep(refused('pause_account', 131031), attempt).kind).toBe('pause');
  expect(decideNextStep(refused('retry_after_wait', 4), attempt)).toMatchObject({
    kind: 'retry',
    afterMs: 10 * MINUTE,
    hold: 'throughout',
  });
  // The upgrade of a number's throughput takes up to a minute.
  expect(decideNextStep(refused('retry_after_wait', 131057), attempt)).toMatchObject({
    kind: 'retry',
    afterMs: MINUTE,
    hold: 'throughout',
  });
  expect(decideNextStep(refused('retry_backoff', 131056), { ...attempt, number: 3 })).toMatchObject({
    kind: 'retry',
    afterMs: 16_000,
    hold: 'no',
  });
  expect(decideNextStep({ kind: 'unsent', reason: 'r' }, { ...attempt, ageMs: DAY + 1 }).kind).toBe('failed');
});

test('an error of one message, person or flow does not hold its channel', () => {
  const holdOf = (retryClass: RetryClass, code: number) => {
    const step = decideNextStep(refused(retryClass, code), attempt);
    return step.kind === 'retry' ? step.hold : step.kind;
  };
  for (const code of [1, 131000, 131056]) expect([code, holdOf('retry_backoff', code)]).toEqual([code, 'no']);
  for (const code of [132069, 134101]) expect([code, holdOf('retry_after_wait', code)]).toEqual([code, 'no']);
  for (const code of [2, 130429, 131016, 133004])
    expect([code, holdOf('retry_backoff', code)]).toEqual([code, 'briefly']);
  for (const code of [4, 80007, 131057]) expect([code, holdOf('retry_after_wait', code)]).toEqual([code, 'throughout']);
});

test('the backoff grows with each attempt, up to five minutes plus a quarter', () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: 1_000 }),
      fc.double({ min: 0, max: 1, noNaN: true }),
      fc.constantFrom(2, 4),
      (number, jitter, base) => {
        const ms = backoffMs({ number, jitter }, base);
        expect(ms).toBeGreaterThanOrEqual(1_000);
        expect(ms).toBeLessThanOrEqual(5 * MINUTE * 1.25);
        expect(backoffMs({ number: number + 1, jitter }, base)).toBeGreaterThanOrEqual(ms);
      },
    ),
  );
});

test('a message without a known outcome is tried ever later: each attempt may reach the person', () => {
  const after = (number: number): number => {
    const step = decideNextStep(
      { kind: 'in_doubt', reason: 'HTTP 500, error 131000' },
      { ...attempt, number, jitter: 0 },
    );
    return step.kind === 'retry' ? step.afterMs : 0;
  };
  expect([1, 5, 6, 7, 8, 9, 10, 100].map(after)).toEqual([
    30_000, 30_000, 32_000, 64_000, 128_000, 256_000, 300_000, 300_000,
  ]);
});
