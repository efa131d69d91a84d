import fc from 'fast-check';
import { expect, test } from 'vitest';
import { judge, RETRY_DELAYS_MS } from '../../../../src/features/webhooks/delivery/verdict.ts';

test('only 2xx is success, 410 ends the delivery, and everything else is retried until the end of the schedule', () => {
  const at = { isTest: false, nowMs: 0, jitter: 0 };
  fc.assert(
    fc.property(fc.integer({ min: 200, max: 599 }), fc.integer({ min: 1, max: 12 }), (status, attemptsSinceQueued) => {
      const { body } = { body: Buffer.alloc(0) };
      const verdict = judge({ kind: 'answer', status, retryAfter: undefined, body }, { ...at, attemptsSinceQueued });
      if (status < 300) expect(verdict).toEqual({ status: 'delivered', retryMs: null, error: null, gone: false });
      else if (status === 410 || attemptsSinceQueued >= 10)
        expect(verdict).toMatchObject({ status: 'failed', retryMs: null, gone: status === 410 });
      else
        expect(verdict).toMatchObject({
          status: 'pending',
          retryMs: RETRY_DELAYS_MS[attemptsSinceQueued - 1],
          gone: false,
        });
    }),
  );
  const failure = { kind: 'failure', reason: 'ECONNREFUSED', timedOut: false } as const;
  expect(judge(failure, { ...at, attemptsSinceQueued: 1 })).toMatchObject({ status: 'pending', error: 'ECONNREFUSED' });
  expect(judge(failure, { ...at, attemptsSinceQueued: 1, isTest: true })).toMatchObject({
    status: 'failed',
    retryMs: null,
  });
});
