import { type Clock, instantOf } from '../../../platform/clock.ts';

/** A read that is repeated takes this part of the time at most. */
const SHARE = 1 / 20;

/**
 * A read whose last result is good enough for a while: it is repeated once 20 times as long as it took has passed, or if the caller needs the
 * present state.
 */
export class PacedRead<Result> {
  readonly #clock: Clock;
  readonly #read: () => Promise<Result>;
  #last: { readonly result: Result; readonly dueAtMs: number } | undefined;

  constructor(clock: Clock, read: () => Promise<Result>) {
    this.#clock = clock;
    this.#read = read;
  }

  /** @param isExact whether the last result is not good enough */
  async next(isExact: boolean): Promise<Result> {
    const startMs = this.#nowMs();
    if (this.#last && !isExact && startMs < this.#last.dueAtMs) return this.#last.result;
    const result = await this.#read();
    const endMs = this.#nowMs();
    this.#last = { result, dueAtMs: endMs + (endMs - startMs) / SHARE };
    return result;
  }

  #nowMs(): number {
    return instantOf(this.#clock).monotonicMs;
  }
}
