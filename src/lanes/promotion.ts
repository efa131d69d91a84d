import { type Clock, hasPassed, type Instant, instantOf } from '../platform/clock.ts';
import type { Renewal } from './store/lanes.sql.ts';

/**
 * Follows the timeline of the database's WAL, which changes when a standby is promoted. If it replicated asynchronously, it lacks the last
 * commits: rows of queues whose external effects have happened are back. Therefore no such row is claimed on a new timeline before this
 * process, and each other one that was alive, has written there what it knew. Others are waited for during `waitMs` after this process.
 *
 * A server that does not show its timeline is not followed.
 */
export class Promotion {
  readonly #clock: Clock;
  readonly #waitMs: number;
  /** The timeline on which this process has written what it knew. */
  #written: number | null = null;
  #found: number | null = null;
  #writtenAt: Instant;
  #isOver = true;

  constructor(clock: Clock, waitMs: number) {
    this.#clock = clock;
    this.#waitMs = waitMs;
    this.#writtenAt = instantOf(clock);
  }

  /** @param timeline null: the server does not show it */
  start(timeline: number | null): void {
    this.#written = timeline;
    this.#found = timeline;
    this.#writtenAt = instantOf(this.#clock);
    this.#isOver = timeline === null;
  }

  /** The timeline on which rows may be claimed; null: any; undefined: none for now. */
  get timeline(): number | null | undefined {
    return this.#isOver ? this.#written : undefined;
  }

  get written(): number | null {
    return this.#written;
  }

  /** The timeline on which this process still has to write what it knew. */
  get unwritten(): number | undefined {
    return this.#found === this.#written ? undefined : (this.#found ?? undefined);
  }

  /** Stops claims until the next renewals: a statement has found another timeline. */
  suspect(): void {
    if (this.#written !== null) this.#isOver = false;
  }

  /** Call after everything known was written. */
  wrote(timeline: number): void {
    this.#written = timeline;
    this.#writtenAt = instantOf(this.#clock);
  }

  /**
   * Call after each renewal.
   * @returns `found`: a promotion; `over`: rows may be claimed again; `abandoned`: they may, though other processes did not return
   */
  renewed({ timeline, isBehind }: Pick<Renewal, 'timeline' | 'isBehind'>): 'found' | 'over' | 'abandoned' | undefined {
    if (timeline === null) return undefined;
    const isFound = timeline !== this.#found;
    this.#found = timeline;
    if (timeline !== this.#written) {
      this.#isOver = false;
      return isFound ? 'found' : undefined;
    }
    if (this.#isOver) return undefined;
    this.#isOver = !isBehind || hasPassed(this.#clock, this.#writtenAt, this.#waitMs);
    if (!this.#isOver) return undefined;
    return isBehind ? 'abandoned' : 'over';
  }
}
