import { type Instant, SECOND } from '../../../platform/clock.ts';
import { Pacing } from './pacing.ts';
import { QueueFront } from './queue-front.ts';

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
