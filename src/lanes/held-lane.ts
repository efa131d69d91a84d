import type { Db } from '../database/database.ts';
import { type Clock, hasPassed, type Instant, SECOND } from '../platform/clock.ts';
import { type Lane, LaneLost } from './lane.ts';
import { type ClaimedLane, lockLane } from './store/lanes.sql.ts';

/** Time slice of a lane while other lanes wait for a slot. */
const TURN_MS = SECOND;

/** Pause after a wake-up of a lane whose lease is still expired. */
const RENEWAL_PAUSE_MS = 50;

/** Functions of the runtime that a lane uses. */
export interface LaneHost {
  readonly clock: Clock;
  readonly leaseMs: number;
  /** Whether other lanes of the queue wait for a slot in this process. */
  isSlotWanted(): boolean;
  /** The lease has expired and may still be renewed. */
  renewSoon(): void;
}

/** One turn of this process on a lane. */
export class HeldLane implements Lane {
  readonly queue: string;
  readonly tenantId: number;
  readonly key: string;
  readonly epoch: number;
  readonly isTakeover: boolean;
  readonly signal: AbortSignal;
  readonly #stopping: AbortSignal;
  readonly #host: LaneHost;
  readonly #end = new AbortController();
  readonly #startedAtMs = performance.now();
  /** Several waits may be pending: a drain races its waits against responses of the network. */
  readonly #waiting = new Set<(woken: boolean) => void>();
  #leasedAt: Instant;
  #isLost = false;
  #lingers = 0;
  #hasWakeUp = false;

  /** @param leasedAt time before the claiming statement was sent; the lease counts from then */
  constructor(taken: ClaimedLane, leasedAt: Instant, stopping: AbortSignal, host: LaneHost) {
    this.queue = taken.queue;
    this.tenantId = taken.tenant_id;
    this.key = taken.key;
    this.epoch = taken.epoch;
    this.isTakeover = taken.is_takeover;
    this.signal = AbortSignal.any([stopping, this.#end.signal]);
    this.#stopping = stopping;
    this.#leasedAt = leasedAt;
    this.#host = host;
  }

  get isStopping(): boolean {
    return this.#stopping.aborted;
  }

  get hasWakeUp(): boolean {
    return this.#hasWakeUp;
  }

  get isLingering(): boolean {
    return this.#lingers > 0;
  }

  /** Whether the turn was ended so that another process drains the lane. */
  get isHandedOver(): boolean {
    return this.#end.signal.aborted;
  }

  get isLost(): boolean {
    return this.#isLost;
  }

  get ageMs(): number {
    return performance.now() - this.#startedAtMs;
  }

  /** Extends the lease. @param at when the renewing statement was sent */
  renewed(at: Instant): void {
    this.#leasedAt = at;
    this.#endWaits(false);
  }

  /** Ends the turn because another process has claimed the lane. */
  lose(): void {
    this.#isLost = true;
    this.#end.abort();
  }

  handOver(): void {
    this.#end.abort();
  }

  /** Ends pending waits. Remembered until the next wait, so that a wake-up in between is not lost. */
  wake(): void {
    this.#hasWakeUp = true;
    this.#endWaits(true);
  }

  /** Ends `linger`, and with it the turn. */
  endLinger(): void {
    if (this.isLingering) this.#endWaits(false);
  }

  #endWaits(woken: boolean): void {
    for (const end of [...this.#waiting]) end(woken);
  }

  mayCall(): boolean {
    if (this.#isLost) return false;
    if (!hasPassed(this.#host.clock, this.#leasedAt, this.#host.leaseMs)) return true;
    this.#host.renewSoon();
    return false;
  }

  async ready(): Promise<boolean> {
    while (!this.signal.aborted) {
      if (this.mayCall()) return true;
      const woken = await this.wait(this.#host.leaseMs);
      this.#hasWakeUp ||= woken;
      // A wake-up ends the wait at once: without this pause, a lane whose lease cannot be renewed would busy-loop.
      if (woken) await new Promise(resolve => setTimeout(resolve, RENEWAL_PAUSE_MS));
    }
    return false;
  }

  async fence(trx: Db): Promise<void> {
    if (await lockLane(trx, this)) return;
    this.lose();
    throw new LaneLost(`The lane ${this.queue}:${this.key} was taken over by another process.`);
  }

  isTurnOver(): boolean {
    return this.ageMs >= TURN_MS && this.#host.isSlotWanted();
  }

  isSlotWanted(): boolean {
    return this.#host.isSlotWanted();
  }

  async linger(ms: number): Promise<boolean> {
    if (!this.#hasWakeUp && this.#host.isSlotWanted()) return false;
    this.#lingers += 1;
    try {
      return await this.wait(ms);
    } finally {
      this.#lingers -= 1;
    }
  }

  takeWakeUp(): boolean {
    const woken = this.#hasWakeUp;
    this.#hasWakeUp = false;
    return woken;
  }

  async wait(ms: number, cancelled?: AbortSignal): Promise<boolean> {
    if (this.takeWakeUp()) return true;
    if (this.signal.aborted || cancelled?.aborted) return false;
    return new Promise<boolean>(resolve => {
      const done = (woken: boolean): void => {
        if (woken) this.#hasWakeUp = false;
        clearTimeout(timer);
        this.signal.removeEventListener('abort', stop);
        cancelled?.removeEventListener('abort', stop);
        this.#waiting.delete(done);
        resolve(woken);
      };
      const stop = (): void => done(false);
      const timer = setTimeout(stop, ms);
      this.signal.addEventListener('abort', stop, { once: true });
      cancelled?.addEventListener('abort', stop, { once: true });
      this.#waiting.add(done);
    });
  }
}
