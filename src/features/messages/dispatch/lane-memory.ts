import { type Instant, SECOND } from '../../../platform/clock.ts';
import { PRIORITIES, type Priority } from './lane.ts';
import { Pacing } from './pacing.ts';

/**
 * The state of a lane that survives from one turn to the next. Without it each turn would start with full token buckets and a
 * closed circuit breaker.
 */
export class LaneMemory {
  readonly front = new QueueFront();
  #pacing: Pacing | undefined;
  /** By each clock. In the past until the first hold, so that the breaker starts closed. */
  #holdUntil: Instant = { wallMs: Number.NEGATIVE_INFINITY, monotonicMs: Number.NEGATIVE_INFINITY };
  #failures = 0;
  #holdReason = '';

  /** The lane's buckets; new ones when the channel's rate has changed. @param monotonicMs see `Pacing` */
  pacing(messagesPerSecond: number, monotonicMs: number): Pacing {
    if (this.#pacing?.messagesPerSecond !== messagesPerSecond)
      this.#pacing = new Pacing(messagesPerSecond, monotonicMs);
    return this.#pacing;
  }

  /**
   * Milliseconds until the circuit breaker closes; 0 if it is closed. The clock that says less counts: the wall clock may be set
   * back, and the monotonic one stops while a machine is suspended.
   */
  holdMs(now: Instant): number {
    const { wallMs, monotonicMs } = this.#holdUntil;
    return Math.max(0, Math.min(wallMs - now.wallMs, monotonicMs - now.monotonicMs));
  }

  /** The network's error that opened the circuit breaker. */
  get holdReason(): string {
    return this.#holdReason;
  }

  /**
   * Opens the circuit breaker after an error of the channel: for the time that the network requested, or with exponential
   * backoff.
   */
  hold(afterMs: number, how: 'briefly' | 'throughout', reason: string, now: Instant): void {
    this.#failures += 1;
    this.#holdReason = reason;
    const ms = how === 'throughout' ? afterMs : Math.min(afterMs, 2 ** Math.min(this.#failures, 8) * SECOND);
    const longest = Math.max(ms, this.holdMs(now));
    this.#holdUntil = { wallMs: now.wallMs + longest, monotonicMs: now.monotonicMs + longest };
  }

  /** Resets the backoff after an accepted message. */
  succeeded(): void {
    this.#failures = 0;
  }
}

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
