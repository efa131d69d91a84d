import { SECOND } from '../../../platform/clock.ts';

/** Tolerance for rounding errors of fractional tokens. */
const ROUNDING = 1e-6;

/** A token bucket: `rate` tokens a second, up to `burst` at once. Times are of a clock that is never set back. */
export class TokenBucket {
  readonly #perMs: number;
  readonly #burst: number;
  #tokens: number;
  #at: number;

  constructor(perSecond: number, burst: number, nowMs: number) {
    this.#perMs = perSecond / 1_000;
    this.#burst = burst;
    this.#tokens = burst;
    this.#at = nowMs;
  }

  #refill(nowMs: number): void {
    this.#tokens = Math.min(this.#burst, this.#tokens + (nowMs - this.#at) * this.#perMs);
    this.#at = nowMs;
  }

  /** @returns false if no token was available */
  take(nowMs: number): boolean {
    this.#refill(nowMs);
    if (this.#tokens < 1 - ROUNDING) return false;
    this.#tokens = Math.max(0, this.#tokens - 1);
    return true;
  }

  /** Number of whole tokens available now. */
  available(nowMs: number): number {
    this.#refill(nowMs);
    return Math.floor(this.#tokens + ROUNDING);
  }

  /** Milliseconds until a token is available; 0 if one is. */
  waitMs(nowMs: number): number {
    this.#refill(nowMs);
    return this.#tokens >= 1 - ROUNDING ? 0 : Math.ceil((1 - this.#tokens) / this.#perMs);
  }
}

/**
 * The network's limit for one person (cloud-api §8): one message in 6 s. A burst of up to 45 within 6 s is allowed but has to be
 * paid back: after a burst of 20 the next message is accepted two minutes after the burst began. A refilling bucket of 45 would exceed it.
 */
const PAIR_INTERVAL_MS = 6 * SECOND;
const PAIR_BURST = 45;
/** Tolerance for varying latency: the network measures between arrivals, the gateway between departures. */
const LATENCY_TOLERANCE_MS = 250;
/** Contacts that are remembered before those whose burst is paid back are dropped. */
const PAIRS_BEFORE_CLEANUP = 10_000;

interface Pair {
  readonly burstBeganMs: number;
  /** Number of messages in the burst. */
  sent: number;
  /** When the burst is paid back. */
  freeMs: number;
}

/**
 * Rate limits of a channel: in total, and to each person. Times are of the monotonic clock: a wall clock that is set back would stop
 * the channel for as long as the jump. After a suspension, in which this clock stops, a limit lasts no longer than before it.
 */
export class Pacing {
  readonly channel: TokenBucket;
  readonly messagesPerSecond: number;
  readonly #pairs = new Map<number, Pair>();

  constructor(messagesPerSecond: number, nowMs: number) {
    this.messagesPerSecond = messagesPerSecond;
    // The burst is a tenth of the rate: the network counts per second, and a smooth stream never exceeds its limit.
    this.channel = new TokenBucket(messagesPerSecond, Math.max(1, messagesPerSecond / 10), nowMs);
  }

  /** @returns 0 if a message may be sent to the contact now (and counts it), otherwise the milliseconds to wait */
  takePair(contactId: number, nowMs: number): number {
    const pair = this.#pairs.get(contactId);
    if (!pair || nowMs >= pair.freeMs) {
      if (!pair && this.#pairs.size >= PAIRS_BEFORE_CLEANUP) this.#forgetFree(nowMs);
      this.#pairs.set(contactId, {
        burstBeganMs: nowMs,
        sent: 1,
        freeMs: nowMs + PAIR_INTERVAL_MS + LATENCY_TOLERANCE_MS,
      });
      return 0;
    }
    if (pair.sent >= PAIR_BURST || nowMs - pair.burstBeganMs >= PAIR_INTERVAL_MS - LATENCY_TOLERANCE_MS)
      return pair.freeMs - nowMs;
    pair.sent += 1;
    pair.freeMs += PAIR_INTERVAL_MS;
    return 0;
  }

  /** Drops contacts whose burst is paid back: they are equal to contacts without messages. */
  #forgetFree(nowMs: number): void {
    for (const [contactId, pair] of this.#pairs) if (nowMs >= pair.freeMs) this.#pairs.delete(contactId);
  }
}
