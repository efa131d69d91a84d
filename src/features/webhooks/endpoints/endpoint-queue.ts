import { SECOND } from '../../../platform/clock.ts';
import { endpointKey } from '../delivery/lane.ts';
import type { DueDelivery, Wanted } from '../delivery/queue.sql.ts';
import { disabledReasonOf, type OpenTarget } from './target.ts';
import type { Target } from './targets.sql.ts';

/** Prefetch threshold, so that the endpoint does not wait for the database. */
const PREFETCH = 25;
/** Maximum age of the cached endpoint, because the signal of a change may have been lost. */
const STALE_MS = SECOND;
/** After this many deliveries the queue restarts at its head, where replays and retries may have been inserted. */
const ROUND = 1_000;

/** The prefetched deliveries of one endpoint, in order, and the cached endpoint. */
export class EndpointQueue {
  readonly key: string;
  readonly tenantId: number;
  readonly endpointId: number;
  readonly #fetch: (queue: EndpointQueue) => Promise<void>;
  readonly #rows: DueDelivery[] = [];
  #open: OpenTarget | undefined;
  #stopped: string | undefined;
  /** Whether the receiver ended the deliveries (`stop`): a target that is read later does not restart them. */
  #isOver = false;
  #failure: Error | undefined;
  /** Position of the last delivery that `next` returned. */
  #taken: Wanted['after'];
  /** Deliveries returned since the queue last started at its head. */
  #count = 0;
  /** Whether the last fetch found no more due deliveries. */
  #isExhausted = false;
  /** Whether deliveries were queued since the last fetch began: it may have read before them. */
  #isWoken = false;
  #isChanged = false;
  #readAt = 0;
  #fetching: Promise<void> | undefined;
  #failingForMs: number | null = null;
  /** When the last change of the endpoint's health was written; infinite until it is. */
  #healthWrittenAt = 0;
  #lastHealth: Promise<void> | undefined;

  /** @param fetch called one at a time; reads after the call, and calls `setTarget` and `add`, or `fail`, before it resolves */
  constructor(tenantId: number, endpointId: number, fetch: (queue: EndpointQueue) => Promise<void>) {
    this.key = endpointKey(tenantId, endpointId);
    this.tenantId = tenantId;
    this.endpointId = endpointId;
    this.#fetch = fetch;
  }

  /** The endpoint as last read, with its secrets opened. */
  get open(): OpenTarget | undefined {
    return this.#open;
  }

  /** Since the first failure after the last success; null if the endpoint is healthy. */
  get failingForMs(): number | null {
    return this.#failingForMs;
  }

  /** Why sending has stopped. */
  get stopped(): string | undefined {
    return this.#stopped;
  }

  /** Where to continue fetching; undefined while enough deliveries are prefetched. */
  get wanted(): Wanted | undefined {
    if (this.#rows.length > PREFETCH) return undefined;
    const last = this.#rows.at(-1);
    return {
      tenantId: this.tenantId,
      endpointId: this.endpointId,
      after: last ? { at: last.next_attempt_at, id: last.id } : this.#taken,
    };
  }

  /** Whether the queue should restart at its head once pending results are written. */
  get isRoundOver(): boolean {
    return this.#count >= ROUND;
  }

  /** Returns the next due delivery; undefined if there is none or sending has stopped. @throws the error passed to `fail` */
  async next(): Promise<DueDelivery | undefined> {
    if (performance.now() - this.#readAt > STALE_MS) this.#isChanged = true;
    if (!this.#isChanged && this.#rows.length === 0) await this.#fetching;
    // The fetch in flight may have read the endpoint before the change: fetch again.
    if (this.#isChanged || (this.#rows.length === 0 && !this.#isExhausted)) await this.#fetchMore();
    if (this.#failure) throw this.#failure;
    if (this.#stopped !== undefined) return undefined;
    const next = this.#rows.shift();
    if (next) {
      this.#taken = { at: next.next_attempt_at, id: next.id };
      this.#count += 1;
    }
    if (this.#rows.length <= PREFETCH && !this.#isExhausted && !this.#fetching) void this.#fetchMore();
    return next;
  }

  /** Sets the current endpoint. @param beganAt `performance.now()` before it was read */
  setTarget(target: Target | undefined, beganAt: number, open: (target: Target) => OpenTarget): void {
    if (this.#isOver) return;
    this.#readAt = performance.now();
    this.#stopped = disabledReasonOf(target);
    if (!target || this.#stopped !== undefined) return;
    this.#open = open(target);
    if (beganAt >= this.#healthWrittenAt) this.#failingForMs = target.failing_for_ms;
  }

  /** Adds deliveries. @param hasMore whether there may be others after them */
  add(rows: readonly DueDelivery[], hasMore: boolean): void {
    this.#rows.push(...rows);
    this.#isExhausted = !hasMore && !this.#isWoken;
  }

  /** Records a change of the endpoint's health. Until it is written, it takes precedence over what fetches read. */
  noteHealth(isFailing: boolean, written: Promise<void>): void {
    this.#failingForMs = isFailing ? 0 : null;
    this.#healthWrittenAt = Number.POSITIVE_INFINITY;
    this.#lastHealth = written;
    void written.then(() => {
      if (this.#lastHealth === written) this.#healthWrittenAt = performance.now();
    });
  }

  /** Records that a fetch failed. */
  fail(error: Error): void {
    this.#failure = error;
  }

  /** Invalidates the cached endpoint: it is read again before the next attempt. */
  refresh(): void {
    this.#isChanged = true;
  }

  /** Records that deliveries were queued: fetch again, even if the queue seemed empty. */
  wake(): void {
    this.#isWoken = true;
    this.#isExhausted = false;
  }

  /** Restarts at the head. All results so far must be written before. */
  async restart(): Promise<void> {
    // The fetch in flight continues after rows that are about to be dropped.
    await this.#fetching;
    this.#rows.length = 0;
    this.#taken = undefined;
    this.#count = 0;
    this.#isExhausted = false;
  }

  /** Stops sending at the request of the receiver. */
  stop(reason: string): void {
    this.#stopped = reason;
    this.#isOver = true;
  }

  #fetchMore(): Promise<void> {
    this.#isChanged = false;
    this.#isWoken = false;
    const fetching = this.#fetch(this).finally(() => {
      if (this.#fetching === fetching) this.#fetching = undefined;
    });
    this.#fetching = fetching;
    return fetching;
  }
}
