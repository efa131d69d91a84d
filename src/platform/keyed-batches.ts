import { SemaphoreTimeout } from './keyed-semaphore.ts';

export interface BatchOptions {
  /** Maximum number of items in a batch. */
  readonly maxSize: number;
  /** Maximum number of concurrent batches per key; further items join the next batch. */
  readonly maxRunning: number;
  /** Maximum number of waiting items per key. */
  readonly maxWaiting: number;
}

interface Entry {
  readonly item: unknown;
  readonly resolve: (result: never) => void;
  readonly reject: (error: unknown) => void;
}

interface KeyState {
  running: number;
  isScheduled: boolean;
  waiting: Entry[];
}

/**
 * Combines concurrent items of a key into batches. Items of one turn of the event loop, and those that arrive while `maxRunning` batches
 * of the key run, share a batch; an item that is alone does not wait.
 */
export class KeyedBatches {
  readonly #keys = new Map<string, KeyState>();
  readonly #options: BatchOptions;

  constructor(options: BatchOptions) {
    this.#options = options;
  }

  /**
   * @param work of a batch, the same for all items of a key; returns a result for each item, in their order. If it fails, all its
   *   items do
   * @throws SemaphoreTimeout if too many items wait
   */
  run<Item, Result>(
    key: string,
    item: Item,
    work: (items: readonly Item[]) => Promise<readonly Result[]>,
  ): Promise<Result> {
    const state = this.#keys.get(key) ?? { running: 0, isScheduled: false, waiting: [] };
    this.#keys.set(key, state);
    if (state.waiting.length >= this.#options.maxWaiting)
      throw new SemaphoreTimeout(`The queue is full: ${this.#options.maxWaiting} items are waiting.`);
    const result = new Promise<Result>((resolve, reject) => {
      state.waiting.push({ item, resolve, reject });
    });
    this.#schedule(key, state, work as (items: readonly unknown[]) => Promise<readonly unknown[]>);
    return result;
  }

  #schedule(key: string, state: KeyState, work: (items: readonly unknown[]) => Promise<readonly unknown[]>): void {
    if (state.isScheduled || state.waiting.length === 0 || state.running >= this.#options.maxRunning) return;
    state.isScheduled = true;
    setImmediate(() => {
      state.isScheduled = false;
      state.running += 1;
      const entries = state.waiting.splice(0, this.#options.maxSize);
      this.#schedule(key, state, work);
      void settle(entries, work).then(() => {
        state.running -= 1;
        if (state.running === 0 && state.waiting.length === 0) this.#keys.delete(key);
        else this.#schedule(key, state, work);
      });
    });
  }
}

async function settle(
  entries: readonly Entry[],
  work: (items: readonly unknown[]) => Promise<readonly unknown[]>,
): Promise<void> {
  try {
    const results = await work(entries.map(({ item }) => item));
    for (const [index, { resolve }] of entries.entries()) resolve(results[index] as never);
  } catch (error) {
    for (const { reject } of entries) reject(error);
  }
}
