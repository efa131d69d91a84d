import { SECOND } from '../../platform/clock.ts';
import { Pacing } from './pacing.ts';

/**
 * What a process remembers of a lane from one turn to the next. Without it every turn would begin with full buckets and
 * no breaker, and run into the same wall again.
 */
export class LaneMemory {
  #pacing: Pacing | undefined;
  #holdUntilMs = 0;
  #failures = 0;

  /** The lane's buckets; new ones when the channel's rate has changed. */
  pacing(messagesPerSecond: number, nowMs: number): Pacing {
    if (this.#pacing?.messagesPerSecond !== messagesPerSecond) this.#pacing = new Pacing(messagesPerSecond, nowMs);
    return this.#pacing;
  }

  /** Milliseconds until the circuit breaker lets something through again; 0 when it does. */
  holdMs(nowMs: number): number {
    return Math.max(0, this.#holdUntilMs - nowMs);
  }

  /**
   * A fault of the channel, not of a message, stops the lane: throughout the time that the network asked for, or briefly,
   * longer with every failure in a row, so that somebody looks again soon.
   */
  hold(afterMs: number, how: 'briefly' | 'throughout', nowMs: number): void {
    this.#failures += 1;
    const ms = how === 'throughout' ? afterMs : Math.min(afterMs, 2 ** Math.min(this.#failures, 8) * SECOND);
    this.#holdUntilMs = Math.max(this.#holdUntilMs, nowMs + ms);
  }

  /** The network took something: what was wrong is over. */
  succeeded(): void {
    this.#failures = 0;
  }
}
