import type { HeldLane } from './held-lane.ts';
import { type Queue, tenantOfLane } from './lane.ts';
import type { RequestedLane } from './store/lanes.sql.ts';

/** Cool-down after releasing a lane, so that another process takes it. */
const COOL_DOWN_MS = 2_000;

/** The lanes of one queue in one process: those it drains, and those that wait for a free slot (first in, first out). */
export class LanePool {
  readonly queue: Queue;
  readonly running = new Map<string, HeldLane>();
  /** Waiting lanes by key, with whether this process requested them: it notifies the others if it cannot claim such a lane. */
  readonly #waiting = new Map<string, boolean>();
  readonly #coolDowns = new Map<string, number>();

  constructor(queue: Queue) {
    this.queue = queue;
  }

  get waitingCount(): number {
    return this.#waiting.size;
  }

  get isFull(): boolean {
    return this.running.size >= this.queue.slots;
  }

  /** Lanes with work to do. */
  get busy(): HeldLane[] {
    return [...this.running.values()].filter(lane => !lane.isLingering && !lane.isHandedOver);
  }

  request(key: string, isLocal: boolean): void {
    const lane = this.running.get(key);
    if (lane) lane.wake();
    else this.#waiting.set(key, isLocal || this.#waiting.get(key) === true);
    if (!lane && this.isFull) this.#endIdle();
  }

  /** Leaves a lane to other processes for `COOL_DOWN_MS`. */
  startCoolDown(key: string): void {
    this.#coolDowns.set(key, performance.now() + COOL_DOWN_MS);
  }

  /** Removes and returns as many waiting lanes as there are free slots. */
  dequeue(): (RequestedLane & { readonly isLocal: boolean })[] {
    const next: (RequestedLane & { readonly isLocal: boolean })[] = [];
    for (const [key, isLocal] of this.#waiting) {
      if (this.running.size + next.length >= this.queue.slots) break;
      this.#waiting.delete(key);
      if (this.#isCoolingDown(key)) continue;
      next.push({ queue: this.queue.name, tenantId: tenantOfLane(this.queue, key), key, isLocal });
    }
    if (this.#waiting.size > 0) this.#endIdle();
    return next;
  }

  /** Registers a running lane; a request that arrived while it was being claimed becomes a wake-up. */
  begin(lane: HeldLane): void {
    this.running.set(lane.key, lane);
    if (this.#waiting.delete(lane.key)) lane.wake();
  }

  /** Ends the turns of as many idle lanes as there are lanes waiting for a slot. */
  #endIdle(): void {
    let wanted = this.#waiting.size;
    for (const lane of this.running.values()) {
      if (wanted <= 0) return;
      if (!lane.isLingering) continue;
      lane.endLinger();
      wanted -= 1;
    }
  }

  #isCoolingDown(key: string): boolean {
    const until = this.#coolDowns.get(key);
    if (until === undefined) return false;
    if (performance.now() < until) return true;
    this.#coolDowns.delete(key);
    return false;
  }
}
