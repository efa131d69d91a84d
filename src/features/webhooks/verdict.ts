import type { PostOutcome } from '../../platform/public-http.ts';
import type { DeliveryStatus } from './delivery.ts';
import { parseRetryAfter, retryDelayMs } from './schedule.ts';

/** What an attempt means for its delivery and its endpoint. */
export interface Verdict {
  readonly status: DeliveryStatus;
  /** Of a delivery that is tried again. */
  readonly nextAttemptMs: number | null;
  readonly error: string | null;
  /** The receiver says that there never will be anything at this address again. */
  readonly gone: boolean;
}

const GONE = 410;

/**
 * 2xx is success. Everything else is failure: a redirect too, which is never followed, since it would lead where nobody has
 * looked. Failures are tried again by the table, never sooner than the receiver asks for.
 *
 * @param tries attempts since the delivery was put into the queue, this one included
 * @param jitter from 0 to 1
 */
export function judge(
  outcome: Exclude<PostOutcome, { kind: 'closed' }>,
  { tries, isTest, nowMs, jitter }: { tries: number; isTest: boolean; nowMs: number; jitter: number },
): Verdict {
  const answered = outcome.kind === 'answer' ? outcome : undefined;
  if (answered && answered.status >= 200 && answered.status < 300)
    return { status: 'delivered', nextAttemptMs: null, error: null, gone: false };
  const gone = answered?.status === GONE;
  const delayMs =
    gone || isTest ? undefined : retryDelayMs(tries, parseRetryAfter(answered?.retryAfter, nowMs), jitter);
  return {
    status: delayMs === undefined ? 'failed' : 'pending',
    nextAttemptMs: delayMs === undefined ? null : nowMs + delayMs,
    error: outcome.kind === 'failure' ? outcome.reason : reasonFor(outcome.status),
    gone,
  };
}

function reasonFor(status: number): string {
  if (status >= 300 && status < 400) return `a redirect (HTTP ${status}), which is not followed`;
  return status === GONE ? 'gone (HTTP 410)' : `HTTP ${status}`;
}
