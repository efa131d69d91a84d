import { SECOND } from '../../../platform/clock.ts';
import { Pacing } from './pacing.ts';
import { QueueFront } from './queue-front.ts';

/**
 * The state of a lane that survives from one turn to the next. Without it each turn would start with full token buckets and a
 * closed circuit breaker.
 */
export class LaneMemory {
  readonly front = new QueueFront();
  #pacing: Pacing | undefined;
  #holdUntilMs = 0;
  #failures = 0;
  #holdReason = '';

  /** The lane's buckets; new ones when the channel's rate has changed. */
  pacing(messagesPerSecond: number, nowMs: number): Pacing {
    if (this.#pacing?.messagesPerSecond !== messagesPerSecond) this.#pacing = new Pacing(messagesPerSecond, nowMs);
    return this.#pacing;
  }

  /** Milliseconds until the circuit breaker closes; 0 if it is closed. */
  holdMs(nowMs: number): number {
    return Math.max(0, this.#holdUntilMs - nowMs);
  }

  /** The network's error that opened the circuit breaker. */
  get holdReason(): string {
    return this.#holdReason;
  }

  /**
   * Opens the circuit breaker after an error of the channel: for the time that the network requested, or with exponential
   * backoff.
   */
  hold(afterMs: number, how: 'briefly' | 'throughout', reason: string, nowMs: number): void {
    this.#failures += 1;
    this.#holdReason = reason;
    const ms = how === 'throughout' ? afterMs : Math.min(afterMs, 2 ** Math.min(this.#failures, 8) * SECOND);
    this.#holdUntilMs = Math.max(this.#holdUntilMs, nowMs + ms);
  }

  /** Resets the backoff after an accepted message. */
  succeeded(): void {
    this.#failures = 0;
  }
}
