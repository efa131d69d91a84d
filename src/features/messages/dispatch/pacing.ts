import { SECOND } from '../../../platform/clock.ts';

/** Sums of fractions fall short of a whole token by less than this. */
const ROUNDING = 1e-6;

/** A token bucket: `rate` tokens a second, up to `burst` at once. */
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

  take(nowMs: number): boolean {
    this.#refill(nowMs);
    if (this.#tokens < 1 - ROUNDING) return false;
    this.#tokens = Math.max(0, this.#tokens - 1);
    return true;
  }

  /** Whole tokens that can be taken now. */
  available(nowMs: number): number {
    this.#refill(nowMs);
    return Math.floor(this.#tokens + ROUNDING);
  }

  /** Milliseconds until a token is there; 0 when one is. */
  waitMs(nowMs: number): number {
    this.#refill(nowMs);
    return this.#tokens >= 1 - ROUNDING ? 0 : Math.ceil((1 - this.#tokens) / this.#perMs);
  }
}

/**
 * The network's rule for one person (cloud-api §8): one message in 6 s. Up to 45 may go within 6 s, but they are borrowed:
 * after a burst of 20 the next is taken two minutes after the burst began. A bucket of 45 that refills would be refused.
 */
const PAIR_INTERVAL_MS = 6 * SECOND;
const PAIR_BURST = 45;
/** The network's clock runs from arrival to arrival, ours from departure to departure: so much the journeys may differ. */
const JOURNEY_MS = 250;
const MAX_PAIRS = 10_000;

interface Pair {
  readonly burstBeganMs: number;
  /** Messages of the burst. */
  sent: number;
  /** When all of them are paid back. */
  freeMs: number;
}

/** How fast a channel may send: all in all, and to each person. */
export class Pacing {
  readonly channel: TokenBucket;
  readonly messagesPerSecond: number;
  readonly #pairs = new Map<number, Pair>();

  constructor(messagesPerSecond: number, nowMs: number) {
    this.messagesPerSecond = messagesPerSecond;
    // A tenth of a second's worth at once: the network counts seconds, and a smooth stream never meets its limit.
    this.channel = new TokenBucket(messagesPerSecond, Math.max(1, messagesPerSecond / 10), nowMs);
  }

  /** @returns 0 when a message may go to the contact now (and counts it), else the milliseconds to wait */
  takePair(contactId: number, nowMs: number): number {
    const pair = this.#pairs.get(contactId);
    if (!pair || nowMs >= pair.freeMs) {
      if (!pair && this.#pairs.size >= MAX_PAIRS) this.#forgetFree(nowMs);
      this.#pairs.set(contactId, { burstBeganMs: nowMs, sent: 1, freeMs: nowMs + PAIR_INTERVAL_MS + JOURNEY_MS });
      return 0;
    }
    if (pair.sent >= PAIR_BURST || nowMs - pair.burstBeganMs >= PAIR_INTERVAL_MS - JOURNEY_MS)
      return pair.freeMs - nowMs;
    pair.sent += 1;
    pair.freeMs += PAIR_INTERVAL_MS;
    return 0;
  }

  /** Who is free is as one who was never written to. */
  #forgetFree(nowMs: number): void {
    for (const [contactId, pair] of this.#pairs) if (nowMs >= pair.freeMs) this.#pairs.delete(contactId);
  }
}
