import type { LiveEventsSubscription } from '../documents.generated.ts';

export type LiveEvent = LiveEventsSubscription['events'];

/** Events that the list shows; older ones are dropped, so that an hour of a busy account needs no more memory than a minute. */
export const KEPT = 2_000;

/** Keeps the last events. They are not state of React: the list reads them a few times a second. */
export class EventBuffer {
  #events: LiveEvent[] = [];
  #total = 0;

  add(event: LiveEvent): void {
    this.#events.push(event);
    // Half as much again, so that the array is copied once in a thousand events.
    if (this.#events.length > 1.5 * KEPT) this.#events = this.#events.slice(-KEPT);
    this.#total += 1;
  }

  /** Number of events since the page was opened. */
  get total(): number {
    return this.#total;
  }

  /** The last events that match, newest first. */
  latest(matches: (event: LiveEvent) => boolean): LiveEvent[] {
    return this.#events.slice(-KEPT).filter(matches).reverse();
  }
}
