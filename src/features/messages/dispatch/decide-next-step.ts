import type { NetworkError, SendOutcome } from '../../../network/network.ts';
import { DAY, exponentialBackoffMs, MINUTE, SECOND } from '../../../platform/clock.ts';
import { NOT_SENT_IN_TIME } from '../send/outcome.ts';

/** Next step after a send attempt. */
export type NextStep =
  | { readonly kind: 'sent'; readonly wamid: string }
  | { readonly kind: 'failed'; readonly error: Pick<NetworkError, 'code' | 'title' | 'details'> }
  /**
   * Retry the message. The lane is held if the error is not specific to the message: `briefly` (exponential backoff), or
   * `throughout` the time that the network asked for, because it counts calls in between.
   */
  | { readonly kind: 'retry'; readonly afterMs: number; readonly hold: 'no' | 'briefly' | 'throughout' }
  /** Pause the channel until an operator acts; the message waits. */
  | { readonly kind: 'pause'; readonly reason: string };

const PAIR_LIMIT = 131_056;
const MAX_BACKOFF_MS = 5 * MINUTE;
const QUOTA_WAIT_MS = 10 * MINUTE;
/** From the first attempt: the service window, after which a free-form message is useless. */
const MAX_AGE_MS = DAY;

export interface Attempt {
  /** Counted from 1. */
  readonly number: number;
  /** Since the first attempt: what was scheduled, or waited behind a paused channel, has not been tried meanwhile. */
  readonly ageMs: number;
  /** Wait for the status of a send without a response. */
  readonly reconcileMs: number;
  /** Random number from 0 to 1 that spreads retries. */
  readonly jitter: number;
}

/** Decides on an attempt by the network's error code, never by an HTTP status (cloud-api §7). */
export function decideNextStep(outcome: Exclude<SendOutcome, { kind: 'withheld' }>, attempt: Attempt): NextStep {
  if (outcome.kind === 'accepted') return { kind: 'sent', wamid: outcome.wamid };
  if (outcome.kind === 'refused') return decideRefusal(outcome.error, attempt);
  if (attempt.ageMs > MAX_AGE_MS)
    return { kind: 'failed', error: { code: 0, title: NOT_SENT_IN_TIME, details: outcome.reason } };
  // Unknown whether it was accepted: wait for the status webhook, then retry.
  if (outcome.kind === 'in_doubt') return { kind: 'retry', afterMs: attempt.reconcileMs, hold: 'no' };
  return { kind: 'retry', afterMs: backoffMs(attempt, 2), hold: 'briefly' };
}

function decideRefusal(error: NetworkError, attempt: Attempt): NextStep {
  const expired = attempt.ageMs > MAX_AGE_MS;
  switch (error.retryClass) {
    case 'retry_backoff':
      if (expired) return { kind: 'failed', error };
      // The pair limit concerns this contact only; other limits hold the channel.
      return error.code === PAIR_LIMIT
        ? { kind: 'retry', afterMs: backoffMs(attempt, 4), hold: 'no' }
        : { kind: 'retry', afterMs: backoffMs(attempt, 2), hold: 'briefly' };
    case 'retry_after_wait':
      if (expired) return { kind: 'failed', error };
      return { kind: 'retry', afterMs: error.retryAfterMs ?? QUOTA_WAIT_MS, hold: 'throughout' };
    case 'no_retry':
    case 'fix_request':
      return { kind: 'failed', error };
    case 'auth':
    case 'pause_account':
      return { kind: 'pause', reason: `${error.code} ${error.title}`.trim() };
  }
}

/** base^(attempt − 1) seconds, at most 5 minutes, up to a quarter more. */
export function backoffMs({ number, jitter }: Pick<Attempt, 'number' | 'jitter'>, base: number): number {
  const plain = exponentialBackoffMs(number - 1, { firstMs: SECOND, factor: base, maxMs: MAX_BACKOFF_MS });
  return Math.round(plain * (1 + jitter / 4));
}
