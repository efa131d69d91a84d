import { SECOND } from '../../platform/clock.ts';
import type { Target } from './endpoints-store.ts';
import { endpointKey } from './lane.ts';
import type { Claimed, Wanted } from './queue-store.ts';
import { type OpenTarget, stoppedFor } from './target.ts';

/** Begins to fetch more when so few are left, so that the endpoint does not wait for the database. */
const PREFETCH = 25;
/** An endpoint that was read longer ago is read again: the signal that it was changed may have been lost. */
const STALE_MS = SECOND;
/** After so many the queue begins again at its head, where replays and retries may have come to stand. */
const ROUND = 1_000;

/** The next deliveries of one endpoint, in order, and what is known of the endpoint meanwhile. */
export class EndpointQueue {
  readonly key: string;
  readonly tenantId: number;
  readonly endpointId: number;
  readonly #fetch: (queue: EndpointQueue) => Promise<void>;
  readonly #rows: Claimed[] = [];
  #open: OpenTarget | undefined;
  #stopped: string | undefined;
  #isOver = false;
  #failure: Error | undefined;
  #taken: Wanted['behind'];
  #count = 0;
  #isExhausted = false;
  #isChanged = false;
  #readAt = 0;
  #fetching: Promise<void> | undefined;
  failingSince: string | null = null;

  /** @param fetch one at a time: reads after it was called, and calls `fill` and `add`, or `fail`, before it resolves */
  constructor(tenantId: number, endpointId: number, fetch: (queue: EndpointQueue) => Promise<void>) {
    this.key = endpointKey(tenantId, endpointId);
    this.tenantId = tenantId;
    this.endpointId = endpointId;
    this.#fetch = fetch;
  }

  /** The endpoint as it was last read, opened. */
  get open(): OpenTarget | undefined {
    return this.#open;
  }

  /** Why nothing is sent any more. */
  get stopped(): string | undefined {
    return this.#stopped;
  }

  /** Behind what to fetch more; undefined while there is enough. */
  get wanted(): Wanted | undefined {
    if (this.#rows.length > PREFETCH) return undefined;
    const last = this.#rows.at(-1);
    return {
      tenantId: this.tenantId,
      endpointId: this.endpointId,
      behind: last ? { at: last.next_attempt_at, id: last.id } : this.#taken,
    };
  }

  /** Whether so many were taken that what is written of them should be waited for, and the head looked at again. */
  get isRoundOver(): boolean {
    return this.#count >= ROUND;
  }

  /** The next delivery that is due; undefined when there is none, or nothing is to be sent. @throws what `fail` was told */
  async next(): Promise<Claimed | undefined> {
    if (performance.now() - this.#readAt > STALE_MS) this.#isChanged = true;
    if (!this.#isChanged && this.#rows.length === 0) await this.#fetching;
    // What is under way may have been read before the change: it is read once more.
    if (this.#isChanged || (this.#rows.length === 0 && !this.#isExhausted)) await this.#more();
    if (this.#failure) throw this.#failure;
    if (this.#stopped !== undefined) return undefined;
    const next = this.#rows.shift();
    if (next) {
      this.#taken = { at: next.next_attempt_at, id: next.id };
      this.#count += 1;
    }
    if (this.#rows.length <= PREFETCH && !this.#isExhausted && !this.#fetching) void this.#more();
    return next;
  }

  /** Takes the endpoint as it is now. */
  fill(target: Target | undefined, open: (target: Target) => OpenTarget): void {
    if (this.#isOver) return;
    this.#readAt = performance.now();
    this.#stopped = stoppedFor(target);
    if (!target || this.#stopped !== undefined) return;
    this.#open = open(target);
    if (this.#count === 0) this.failingSince = target.failing_since;
  }

  /** Takes more deliveries. @param hasMore whether there may be others behind them */
  add(rows: readonly Claimed[], hasMore: boolean): void {
    this.#rows.push(...rows);
    this.#isExhausted = !hasMore;
  }

  /** Nothing could be fetched. */
  fail(error: Error): void {
    this.#failure = error;
  }

  /** The endpoint was changed: it is read again before the next attempt. */
  refresh(): void {
    this.#isChanged = true;
  }

  /** Something was put into the queue: there is more, though there seemed to be none. */
  poke(): void {
    this.#isExhausted = false;
  }

  /** Begins again at the head. Everything taken so far has to be written by then. */
  async restart(): Promise<void> {
    // What is under way is read behind rows that are about to be dropped.
    await this.#fetching;
    this.#rows.length = 0;
    this.#taken = undefined;
    this.#count = 0;
    this.#isExhausted = false;
  }

  /** Nothing more is sent, whatever is read: the receiver said so. */
  stop(reason: string): void {
    this.#stopped = reason;
    this.#isOver = true;
  }

  #more(): Promise<void> {
    this.#isChanged = false;
    const fetching = this.#fetch(this).finally(() => {
      if (this.#fetching === fetching) this.#fetching = undefined;
    });
    this.#fetching = fetching;
    return fetching;
  }
}
