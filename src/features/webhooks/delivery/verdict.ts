import type { PostOutcome } from '../../../platform/public-http.ts';
import type { DeliveryStatus } from '../log/delivery.ts';
import { parseRetryAfter, retryDelayMs } from './schedule.ts';

/** Consequences of an attempt for its delivery and endpoint. */
export interface Verdict {
  readonly status: DeliveryStatus;
  /** Delay until the next attempt; null if there is none. */
  readonly retryMs: number | null;
  readonly error: string | null;
  /** The receiver responded that the address is permanently gone (410). */
  readonly gone: boolean;
}

const GONE = 410;

/**
 * 2xx is success, everything else a failure. Redirects are not followed, because their target has not been checked. Failures are
 * retried by the schedule, never earlier than `Retry-After`.
 *
 * @param attemptsSinceQueued attempts since the delivery was queued, including this one
 * @param jitter from 0 to 1
 */
export function judge(
  outcome: Exclude<PostOutcome, { kind: 'closed' | 'withheld' }>,
  {
    attemptsSinceQueued,
    isTest,
    nowMs,
    jitter,
  }: { attemptsSinceQueued: number; isTest: boolean; nowMs: number; jitter: number },
): Verdict {
  const answered = outcome.kind === 'answer' ? outcome : undefined;
  if (answered && answered.status >= 200 && answered.status < 300)
    return { status: 'delivered', retryMs: null, error: null, gone: false };
  const gone = answered?.status === GONE;
  const delayMs =
    gone || isTest
      ? undefined
      : retryDelayMs(attemptsSinceQueued, parseRetryAfter(answered?.retryAfter, nowMs), jitter);
  return {
    status: delayMs === undefined ? 'failed' : 'pending',
    retryMs: delayMs ?? null,
    error: outcome.kind === 'failure' ? outcome.reason : reasonFor(outcome.status),
    gone,
  };
}

function reasonFor(status: number): string {
  if (status >= 300 && status < 400) return `a redirect (HTTP ${status}), which is not followed`;
  return status === GONE ? 'gone (HTTP 410)' : `HTTP ${status}`;
}
