import { SECOND } from '../../../platform/clock.ts';
import { PRIORITIES, type Priority } from './lane.ts';

/**
 * The queue is read from its beginning at this interval, to find messages that claims skipped: those of a channel that was paused, of
 * locked rows and of slow commits, if they were due for more than 5 s. A campaign waits for them when it is resumed.
 */
const RESTART_MS = SECOND;

/** Start of a claim, as parameters of statements. */
export interface FrontPosition {
  /** By the monotonic clock. */
  readonly atMs: number;
  /** By priority: the time before which all due messages were claimed, by the database's clock. */
  readonly since: readonly string[];
  /** Time since no due message was left; null: unknown. */
  readonly emptiedMsAgo: number | null;
}

/**
 * The position up to which a lane's queue is empty. Index entries of deleted rows remain as long as an open transaction may see
 * them, and each claim would scan them again (90,000 after 10 minutes at 150 messages a second).
 */
export class QueueFront {
  readonly #since = new Map<Priority, string>();
  readonly #monotonicMs: () => number;
  #emptiedMs: number | undefined;
  #restartMs = 0;

  constructor(monotonicMs = () => performance.now()) {
    this.#monotonicMs = monotonicMs;
  }

  position(): FrontPosition {
    const now = this.#monotonicMs();
    if (now >= this.#restartMs) {
      this.#restartMs = now + RESTART_MS;
      this.#since.clear();
      this.#emptiedMs = undefined;
    }
    return {
      atMs: now,
      since: PRIORITIES.map(priority => this.#since.get(priority) ?? '-infinity'),
      emptiedMsAgo: this.#emptiedMs === undefined ? null : now - this.#emptiedMs,
    };
  }

  /**
   * Records a claim.
   * @param rows in the order of the claim
   * @param position where the claim began; it does not find messages that are due later
   */
  advance(
    rows: readonly { readonly priority: Priority; readonly next_attempt_at: string }[],
    limit: number,
    { atMs }: FrontPosition,
  ): void {
    for (const { priority, next_attempt_at } of rows) this.#since.set(priority, next_attempt_at);
    if (rows.length < limit) this.#emptiedMs = atMs;
  }
}
