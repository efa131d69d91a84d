import { QueueOverload } from './keyed-semaphore.ts';

export interface BatchOptions {
  /** Maximum number of items in a batch. */
  readonly maxSize: number;
  /** Maximum number of concurrent batches per key; further items join the next batch. */
  readonly maxRunning: number;
  /** Maximum number of waiting items per key. */
  readonly maxWaiting: number;
  /**
   * Minimum time between the starts of two batches of a key (default none). Ignored if nearly as many items wait as were recently in
   * work at once: then probably every sender waits, and none would add another item.
   */
  readonly spacingMs?: number;
}

type Work = (items: readonly unknown[]) => Promise<readonly unknown[]>;

interface Entry {
  readonly item: unknown;
  readonly resolve: (result: never) => void;
  readonly reject: (error: unknown) => void;
}

/** A batch of at least this share of the peak starts without waiting for `spacingMs`. */
const PEAK_SHARE = 0.9;
/** Factor by which the peak decays with each batch. */
const PEAK_DECAY = 0.95;

interface KeyState {
  /** Number of running batches. */
  running: number;
  /** Number of items, waiting and running. */
  inWork: number;
  /** Recent maximum of `inWork`. */
  peak: number;
  isScheduled: boolean;
  /** Runs for the `spacingMs` after a batch has begun. */
  pause: NodeJS.Timeout | undefined;
  waiting: Entry[];
}

/**
 * Combines concurrent items of a key into batches. Items of one event loop turn, and those that arrive while `maxRunning` batches of the
 * key run, share a batch; with `spacingMs`, so do those that arrive soon after a batch started. A single item does not wait, nor do the
 * items of a sender that awaits each result before it adds the next item.
 */
export class KeyedBatches {
  readonly #keys = new Map<string, KeyState>();
  readonly #options: BatchOptions;

  constructor(options: BatchOptions) {
    this.#options = options;
  }

  /**
   * @param work processes a batch, and must be the same for all items of a key; returns a result for each item, in their order. If it
   *   fails, so do all items of the batch
   * @throws QueueOverload if too many items wait
   */
  run<Item, Result>(
    key: string,
    item: Item,
    work: (items: readonly Item[]) => Promise<readonly Result[]>,
  ): Promise<Result> {
    const state = this.#keys.get(key) ?? newState();
    this.#keys.set(key, state);
    if (state.waiting.length >= this.#options.maxWaiting)
      throw new QueueOverload(`The queue is full: ${this.#options.maxWaiting} items are waiting.`);
    const result = new Promise<Result>((resolve, reject) => {
      state.waiting.push({ item, resolve, reject });
    });
    state.inWork += 1;
    state.peak = Math.max(state.peak, state.inWork);
    this.#schedule(key, state, work as Work);
    return result;
  }

  #schedule(key: string, state: KeyState, work: Work): void {
    if (state.isScheduled || state.waiting.length === 0 || state.running >= this.#options.maxRunning) return;
    if (state.pause && state.waiting.length < PEAK_SHARE * state.peak) return;
    state.isScheduled = true;
    setImmediate(() => {
      state.isScheduled = false;
      state.running += 1;
      this.#startPause(key, state, work);
      const entries = state.waiting.splice(0, this.#options.maxSize);
      state.peak = Math.max(state.inWork, PEAK_DECAY * state.peak);
      this.#schedule(key, state, work);
      void settle(entries, work).then(() => {
        state.running -= 1;
        state.inWork -= entries.length;
        this.#next(key, state, work);
      });
    });
  }

  #startPause(key: string, state: KeyState, work: Work): void {
    if (this.#options.spacingMs === undefined) return;
    clearTimeout(state.pause);
    state.pause = setTimeout(() => {
      state.pause = undefined;
      this.#next(key, state, work);
    }, this.#options.spacingMs);
  }

  #next(key: string, state: KeyState, work: Work): void {
    const isIdle = state.running === 0 && state.waiting.length === 0 && !state.isScheduled;
    if (isIdle && !state.pause) this.#keys.delete(key);
    else this.#schedule(key, state, work);
  }
}

const newState = (): KeyState => ({
  running: 0,
  inWork: 0,
  peak: 0,
  isScheduled: false,
  pause: undefined,
  waiting: [],
});

async function settle(entries: readonly Entry[], work: Work): Promise<void> {
  try {
    const results = await work(entries.map(({ item }) => item));
    for (const [index, { resolve }] of entries.entries()) resolve(results[index] as never);
  } catch (error) {
    for (const { reject } of entries) reject(error);
  }
}
