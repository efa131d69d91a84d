import { exponentialBackoffMs } from '../platform/clock.ts';

/** An item that waits to be written. */
export interface Pending<Item, Result> {
  readonly item: Item;
  readonly written: (result: Result) => void;
}

export interface BatchedWriterOptions {
  /** Items that arrive within this time share one write. */
  readonly flushMs: number;
  /** Minimum time between the starts of two writes, unless a caller waits or `hurry.items` items do. */
  readonly spacingMs?: number;
  /** Factor by which the pause grows with each consecutive failure. */
  readonly backoffFactor: number;
  readonly maxBackoffMs?: number;
  /** Items per write. */
  readonly maxSize: number;
  /** Concurrent writes. */
  readonly maxRunning: number;
  /** A shorter `flushMs`, used when a caller waits or this many items do. */
  readonly hurry?: { readonly flushMs: number; readonly items: number };
}

/**
 * Writes items in batches while further items arrive (write-behind). Failed items are written again before newer ones, after an
 * exponential backoff.
 */
export class BatchedWriter<Item, Result> {
  readonly #write: (batch: readonly Pending<Item, Result>[]) => Promise<readonly Pending<Item, Result>[]>;
  readonly #options: BatchedWriterOptions;
  #waiting: Pending<Item, Result>[] = [];
  #timer: NodeJS.Timeout | undefined;
  #running = 0;
  #failures = 0;
  #startedAtMs = Number.NEGATIVE_INFINITY;
  /** Whether a caller has been waiting since the last write began. */
  #isHurried = false;
  /** Resolves at the end of the next write. */
  #progress = Promise.withResolvers<void>();

  /** @param write reports each item as written, or returns it to be written again; never rejects */
  constructor(
    write: (batch: readonly Pending<Item, Result>[]) => Promise<readonly Pending<Item, Result>[]>,
    options: BatchedWriterOptions,
  ) {
    this.#write = write;
    this.#options = options;
  }

  /** Number of failed writes since the last successful one. */
  get failures(): number {
    return this.#failures;
  }

  /** Never rejects. */
  add(item: Item): Promise<Result> {
    return new Promise(written => {
      this.#waiting.push({ item, written });
      if (this.#waiting.length >= (this.#options.hurry?.items ?? Number.POSITIVE_INFINITY)) this.hurry();
      this.#schedule();
    });
  }

  /** Writes items again that failed apart from their batch. */
  retry(failed: readonly Pending<Item, Result>[]): void {
    if (failed.length === 0) return;
    this.#failures += 1;
    this.#waiting.unshift(...failed);
    this.#schedule();
  }

  /** Requests that waiting items be written soon. */
  hurry(): void {
    const isIdle = this.#waiting.length === 0 && this.#running === 0;
    if (this.#isHurried || isIdle) return;
    this.#isHurried = true;
    if (!this.#timer || this.#failures > 0) return;
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#schedule();
  }

  /** Resolves when fewer than `maximum` items wait (backpressure). */
  async waitForRoom(maximum: number): Promise<void> {
    while (this.#waiting.length >= maximum) await this.#progress.promise;
  }

  /** Writes all items. */
  async flush(): Promise<void> {
    while (this.#waiting.length > 0 || this.#running > 0) {
      this.hurry();
      await this.#progress.promise;
    }
  }

  #schedule(): void {
    if (this.#timer || this.#waiting.length === 0 || this.#running >= this.#options.maxRunning) return;
    this.#timer = setTimeout(() => {
      this.#timer = undefined;
      void this.#next();
    }, this.#pauseMs());
  }

  #pauseMs(): number {
    const { flushMs, spacingMs = 0, backoffFactor: factor, maxBackoffMs: maxMs, hurry } = this.#options;
    if (this.#failures === 0 && this.#isHurried) return hurry?.flushMs ?? flushMs;
    if (this.#failures === 0) return Math.max(flushMs, this.#startedAtMs + spacingMs - performance.now());
    return exponentialBackoffMs(this.#failures, { firstMs: flushMs, factor, ...(maxMs !== undefined && { maxMs }) });
  }

  async #next(): Promise<void> {
    this.#isHurried = false;
    this.#startedAtMs = performance.now();
    const batch = this.#waiting.splice(0, this.#options.maxSize);
    if (this.#waiting.length >= (this.#options.hurry?.items ?? Number.POSITIVE_INFINITY)) this.#isHurried = true;
    this.#running += 1;
    this.#schedule();
    const failed = await this.#write(batch);
    this.#running -= 1;
    if (failed.length === 0) this.#failures = 0;
    this.retry(failed);
    this.#schedule();
    this.#progress.resolve();
    this.#progress = Promise.withResolvers();
  }
}
