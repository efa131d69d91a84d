/** Thrown if a turn is not granted in time. */
export class NoTurn extends Error {
  override readonly name = 'NoTurn';
}

export interface TurnsOptions {
  /** Maximum number of concurrent tasks per key. */
  readonly places: number;
  /** Maximum number of waiting tasks per key. */
  readonly maxWaiting: number;
  /** Maximum wait for a turn. */
  readonly patienceMs: number;
}

interface Line {
  busy: number;
  readonly waiting: Set<() => void>;
}

/**
 * Serialises tasks that would wait for the same database lock, before they take a connection: otherwise all connections of the
 * process would wait for that lock.
 */
export class Turns {
  readonly #lines = new Map<string, Line>();
  readonly #options: TurnsOptions;

  constructor(options: TurnsOptions) {
    this.#options = options;
  }

  /** Runs `work` in its turn, first in, first out. @throws NoTurn if too many wait or the turn is not granted in time */
  async run<T>(key: string, work: () => Promise<T>): Promise<T> {
    const line = this.#lines.get(key) ?? { busy: 0, waiting: new Set() };
    this.#lines.set(key, line);
    if (line.busy < this.#options.places) line.busy += 1;
    else await this.#turn(line);
    try {
      return await work();
    } finally {
      const [next] = line.waiting;
      // The place passes to the next task.
      if (next) next();
      else line.busy -= 1;
      if (line.busy === 0) this.#lines.delete(key);
    }
  }

  #turn({ waiting }: Line): Promise<void> {
    const { maxWaiting, patienceMs } = this.#options;
    if (waiting.size >= maxWaiting) throw new NoTurn(`${maxWaiting} wait already.`);
    return new Promise((resolve, reject) => {
      const begin = (): void => {
        clearTimeout(timer);
        waiting.delete(begin);
        resolve();
      };
      const timer = setTimeout(() => {
        waiting.delete(begin);
        reject(new NoTurn(`No turn within ${patienceMs} ms.`));
      }, patienceMs);
      waiting.add(begin);
    });
  }
}
