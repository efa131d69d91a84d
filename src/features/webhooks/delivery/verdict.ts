import { DAY, HOUR, MINUTE, SECOND } from '../../../platform/clock.ts';
import type { PostOutcome } from '../../../platform/public-http.ts';
import type { DeliveryStatus } from '../log/delivery.ts';

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

/** Delays between attempts, as recommended by Standard Webhooks. After the last one the delivery fails. */
export const RETRY_DELAYS_MS = [
  5 * SECOND,
  5 * MINUTE,
  30 * MINUTE,
  2 * HOUR,
  5 * HOUR,
  10 * HOUR,
  14 * HOUR,
  20 * HOUR,
  24 * HOUR,
] as const;

/** An endpoint that fails for this long without a success is disabled. */
export const FAILING_FOR_MS = 5 * DAY;

/** Each delay is up to this share longer, so that deliveries that failed together are not retried together. */
const JITTER = 0.1;
/** Upper limit of `Retry-After`. */
const MAX_RETRY_AFTER_MS = DAY;

/**
 * @param attemptsSinceQueued including the failed one
 * @param retryAfterMs the receiver's `Retry-After`
 * @param jitter from 0 to 1
 * @returns undefined after the last attempt
 */
export function retryDelayMs(
  attemptsSinceQueued: number,
  retryAfterMs: number | undefined,
  jitter: number,
): number | undefined {
  const delay = RETRY_DELAYS_MS[attemptsSinceQueued - 1];
  if (delay === undefined) return undefined;
  return Math.ceil(Math.max(delay, Math.min(retryAfterMs ?? 0, MAX_RETRY_AFTER_MS)) * (1 + JITTER * jitter));
}

/** Reads `Retry-After`: seconds, or an HTTP date (RFC 9110 §10.2.3). @returns milliseconds from now, never negative */
export function parseRetryAfter(header: string | undefined, nowMs: number): number | undefined {
  const text = header?.trim();
  if (!text) return undefined;
  if (/^\d+$/.test(text)) return Number(text) * SECOND;
  // An asctime date has no zone and is in UTC (RFC 9110 §5.6.7).
  const date = text.endsWith('GMT') ? text : `${text} GMT`;
  const at = /^[A-Z][a-z]/.test(text) ? Date.parse(date) : Number.NaN;
  return Number.isNaN(at) ? undefined : Math.max(0, at - nowMs);
}
