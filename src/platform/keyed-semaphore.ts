/** Thrown if too many tasks wait for a key, or a task is not started in time. */
export class QueueOverload extends Error {
  override readonly name = 'QueueOverload';
}

export interface SemaphoreOptions {
  /** Maximum number of concurrent tasks per key. */
  readonly concurrency: number;
  /** Maximum number of waiting tasks per key. */
  readonly maxWaiting: number;
  /** Maximum wait before a task starts. */
  readonly timeoutMs: number;
}

interface KeyState {
  running: number;
  readonly waiting: Set<() => void>;
}

/**
 * Limits concurrent tasks per key, first in, first out. Used for tasks that would wait for the same database lock: they queue before
 * they take a connection, because otherwise all connections of the process could wait for that lock.
 */
export class KeyedSemaphore {
  readonly #keys = new Map<string, KeyState>();
  readonly #options: SemaphoreOptions;

  constructor(options: SemaphoreOptions) {
    this.#options = options;
  }

  /** Runs `work` when a slot of the key is free. @throws QueueOverload if too many tasks wait or the timeout passes */
  async run<T>(key: string, work: () => Promise<T>): Promise<T> {
    const state = this.#keys.get(key) ?? { running: 0, waiting: new Set() };
    this.#keys.set(key, state);
    if (state.running < this.#options.concurrency) state.running += 1;
    else await this.#wait(state);
    try {
      return await work();
    } finally {
      const [next] = state.waiting;
      // The slot passes to the next task.
      if (next) next();
      else state.running -= 1;
      if (state.running === 0) this.#keys.delete(key);
    }
  }

  #wait({ waiting }: KeyState): Promise<void> {
    const { maxWaiting, timeoutMs } = this.#options;
    if (waiting.size >= maxWaiting) throw new QueueOverload(`The queue is full: ${maxWaiting} tasks are waiting.`);
    return new Promise((resolve, reject) => {
      const begin = (): void => {
        clearTimeout(timer);
        waiting.delete(begin);
        resolve();
      };
      const timer = setTimeout(() => {
        waiting.delete(begin);
        reject(new QueueOverload(`The task was not started within ${timeoutMs} ms.`));
      }, timeoutMs);
      waiting.add(begin);
    });
  }
}
