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
/**
 * Errors that concern one message, person or flow (cloud-api/error_codes.json, `scope`): 1 and 131000 may be due to the message itself, which
 * would hold all others again and again. 132069: the flow of a template is throttled. 134101: a template is not synced yet.
 */
const MESSAGE_ERRORS: ReadonlySet<number> = new Set([1, 131_000, PAIR_LIMIT, 132_069, 134_101]);
const MAX_BACKOFF_MS = 5 * MINUTE;
const QUOTA_WAIT_MS = 10 * MINUTE;
/** While the throughput of a number is upgraded, for up to a minute (cloud-api §8): one-time codes would expire in a longer wait. */
const UPGRADE = 131_057;
const UPGRADE_WAIT_MS = MINUTE;
/** From the first attempt: the service window, after which a free-form message is useless. */
const MAX_AGE_MS = DAY;

export interface Attempt {
  /** Counted from 1. */
  readonly number: number;
  /** Time since the first attempt. Not since acceptance: before its first attempt a message may be scheduled, or held by a paused channel. */
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
  // Unknown whether it was accepted: wait for the status webhook, then retry, with growing pauses, because each attempt may reach the person.
  if (outcome.kind === 'in_doubt')
    return { kind: 'retry', afterMs: Math.max(attempt.reconcileMs, backoffMs(attempt, 2)), hold: 'no' };
  return { kind: 'retry', afterMs: backoffMs(attempt, 2), hold: 'briefly' };
}

function decideRefusal(error: NetworkError, attempt: Attempt): NextStep {
  const expired = attempt.ageMs > MAX_AGE_MS;
  const isOfMessage = MESSAGE_ERRORS.has(error.code);
  switch (error.retryClass) {
    case 'retry_backoff': {
      if (expired) return { kind: 'failed', error };
      const afterMs = backoffMs(attempt, error.code === PAIR_LIMIT ? 4 : 2);
      return { kind: 'retry', afterMs, hold: isOfMessage ? 'no' : 'briefly' };
    }
    case 'retry_after_wait': {
      if (expired) return { kind: 'failed', error };
      const afterMs = error.retryAfterMs ?? (error.code === UPGRADE ? UPGRADE_WAIT_MS : QUOTA_WAIT_MS);
      return { kind: 'retry', afterMs, hold: isOfMessage ? 'no' : 'throughout' };
    }
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
