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
    if (this.#tokens < 1) return false;
    this.#tokens -= 1;
    return true;
  }

  /** Whole tokens that can be taken now. */
  available(nowMs: number): number {
    this.#refill(nowMs);
    return Math.floor(this.#tokens);
  }

  /** Milliseconds until a token is there; 0 when one is. */
  waitMs(nowMs: number): number {
    this.#refill(nowMs);
    return this.#tokens >= 1 ? 0 : Math.ceil((1 - this.#tokens) / this.#perMs);
  }

  get isFull(): boolean {
    return this.#tokens >= this.#burst;
  }
}

/** One message in 6 s to one person, with a burst of 45 that borrows from the future (cloud-api §8). */
const PAIR_PER_SECOND = 1 / 6;
const PAIR_BURST = 45;
const MAX_PAIRS = 10_000;

/** How fast a channel may send: all in all, and to each person. */
export class Pacing {
  readonly channel: TokenBucket;
  readonly #pairs = new Map<number, TokenBucket>();

  constructor(messagesPerSecond: number, nowMs: number) {
    // A tenth of a second's worth at once: the network counts seconds, and a smooth stream never meets its limit.
    this.channel = new TokenBucket(messagesPerSecond, Math.max(1, messagesPerSecond / 10), nowMs);
  }

  /** @returns 0 when a message may go to the contact now (and counts it), else the milliseconds to wait */
  takePair(contactId: number, nowMs: number): number {
    let bucket = this.#pairs.get(contactId);
    if (!bucket) {
      if (this.#pairs.size >= MAX_PAIRS) this.#forgetFull(nowMs);
      bucket = new TokenBucket(PAIR_PER_SECOND, PAIR_BURST, nowMs);
      this.#pairs.set(contactId, bucket);
    }
    return bucket.take(nowMs) ? 0 : bucket.waitMs(nowMs);
  }

  /** A full bucket knows nothing that a new one would not. */
  #forgetFull(nowMs: number): void {
    for (const [contactId, bucket] of this.#pairs) {
      bucket.waitMs(nowMs);
      if (bucket.isFull) this.#pairs.delete(contactId);
    }
  }
}
