import type { LiveEventsSubscription } from '../documents.generated.ts';

export type LiveEvent = LiveEventsSubscription['events'];

/** Events that the list shows; older ones are forgotten, so that an hour of a busy account needs no more memory than a minute. */
const KEPT = 200;
/** Seconds of the chart. */
export const SECONDS = 120;

/** Counts what arrives, and keeps the last events. Events are not state: a page reads a picture of them now and then. */
export class EventBuffer {
  #events: LiveEvent[] = [];
  readonly #perSecond = new Map<number, number>();
  #total = 0;

  add(event: LiveEvent, nowMs: number): void {
    this.#events.push(event);
    if (this.#events.length > 2 * KEPT) this.#events = this.#events.slice(-KEPT);
    this.#total += 1;
    const second = Math.floor(nowMs / 1_000);
    this.#perSecond.set(second, (this.#perSecond.get(second) ?? 0) + 1);
    for (const key of this.#perSecond.keys()) if (key < second - SECONDS) this.#perSecond.delete(key);
  }

  get total(): number {
    return this.#total;
  }

  /** The last events, newest first. */
  latest(): LiveEvent[] {
    return this.#events.slice(-KEPT).reverse();
  }

  /** Events in each of the last seconds, the present one excluded: seconds since the epoch, counts. */
  series(nowMs: number): [number[], number[]] {
    const now = Math.floor(nowMs / 1_000);
    const seconds = Array.from({ length: SECONDS }, (_, index) => now - SECONDS + index);
    return [seconds, seconds.map(second => this.#perSecond.get(second) ?? 0)];
  }
}
