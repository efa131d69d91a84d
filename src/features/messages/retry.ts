import type { NetworkError, SendOutcome } from '../../network/network.ts';
import { DAY, MINUTE, SECOND } from '../../platform/clock.ts';

/** What follows from an attempt to send. */
export type Decision =
  | { readonly kind: 'sent'; readonly wamid: string; readonly waId: string | undefined }
  | { readonly kind: 'failed'; readonly error: Pick<NetworkError, 'code' | 'title' | 'details'> }
  /**
   * Try this message again. The lane is held where the fault is not the message's own: `briefly`, to look soon whether it
   * has passed, or for as long as the network asked (`throughout`), which counts every call in between.
   */
  | { readonly kind: 'retry'; readonly afterMs: number; readonly hold: 'no' | 'briefly' | 'throughout' }
  /** The channel stops until a person has acted; the message waits. */
  | { readonly kind: 'pause'; readonly reason: string };

const PAIR_LIMIT = 131_056;
const MAX_BACKOFF_MS = 5 * MINUTE;
const QUOTA_WAIT_MS = 10 * MINUTE;
/** A free-form message is worth nothing after the window in which it was allowed. */
const MAX_AGE_MS = DAY;

export interface Attempt {
  /** Counted from 1. */
  readonly number: number;
  readonly ageMs: number;
  /** How long a send whose answer was lost waits for its status. */
  readonly reconcileMs: number;
  /** 0 to 1: spreads retries. */
  readonly jitter: number;
}

/** Decides by the network's error code, never by an HTTP status (cloud-api §7). */
export function decide(outcome: SendOutcome, attempt: Attempt): Decision {
  if (outcome.kind === 'accepted') return { kind: 'sent', wamid: outcome.wamid, waId: outcome.waId };
  if (outcome.kind === 'refused') return decideRefusal(outcome.error, attempt);
  if (attempt.ageMs > MAX_AGE_MS)
    return { kind: 'failed', error: { code: 0, title: 'Not sent within 24 hours', details: outcome.reason } };
  // Whether it was taken is not known: its status webhook settles it, or its silence does.
  if (outcome.kind === 'in_doubt') return { kind: 'retry', afterMs: attempt.reconcileMs, hold: 'no' };
  return { kind: 'retry', afterMs: backoffMs(attempt, 2), hold: 'briefly' };
}

function decideRefusal(error: NetworkError, attempt: Attempt): Decision {
  const expired = attempt.ageMs > MAX_AGE_MS;
  switch (error.retryClass) {
    case 'retry_backoff':
      if (expired) return { kind: 'failed', error };
      // The pair limit is this person's alone; everything else slows the channel.
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
  const plain = Math.min(MAX_BACKOFF_MS, base ** Math.min(number - 1, 20) * SECOND);
  return Math.round(plain * (1 + jitter / 4));
}
