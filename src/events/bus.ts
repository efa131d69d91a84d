import type { EventPayloads, EventType } from '../core/events.ts';
import type { Database } from '../database/database.ts';
import { SECOND } from '../platform/clock.ts';
import type { Log } from '../platform/log.ts';
import type { Metrics } from '../platform/metrics.ts';
import type { Signals } from '../platform/signals.ts';
import { type Cursor, isAfter, positionBefore } from './cursor.ts';
import { type Facet, hasFacets } from './facets.sql.ts';
import type { Horizon } from './horizon.ts';
import { Interests } from './interests.ts';
import { type EventRow, type ReadRow, readAll } from './log.sql.ts';

/** An event as it is fanned out in memory. */
export type LoggedEvent = EventRow & { readonly cursor: Cursor };

/** An event in the replay buffer; without a payload if no one subscribed to it, or a contact was erased since. */
type BufferedEvent = ReadRow & { readonly cursor: Cursor };

/** Selects the events of a subscription. */
export interface EventFilter {
  readonly types: ReadonlySet<EventType>;
  /** Restricts the objects of the events; all facets must match. */
  readonly facets?: readonly Facet[];
}

export interface Subscriber extends AsyncIterable<LoggedEvent> {
  close(): void;
}

type OutcomeMessage = EventPayloads['message.sent']['message'];

/** A message whose first response from the network is awaited. */
export interface PendingOutcome {
  /** The message once the network has accepted or refused it; undefined after the timeout. */
  readonly message: Promise<OutcomeMessage | undefined>;
  cancel(): void;
}

/**
 * Fan-out of the event log within one process: one tailer reads the log, and each subscriber gets its tenant's events in order.
 * Yoga's own pub/sub is not used: a slow subscriber could end the process.
 */
export interface EventBus {
  /** Position up to which this process has fanned out the log: later events will reach its subscribers. */
  readonly position: Cursor;
  /** Subscribes to events read from now on. The queue is bounded; on overflow it ends with `SubscriberOverflow`. */
  subscribe(tenantId: number, filter: EventFilter): Subscriber;
  /**
   * Returns the events that a subscriber missed after a position from the replay buffer: a thousand reconnecting dashboards cost
   * the database nothing. Undefined if the position is older than the replay buffer, or if payloads in between were not read
   * because no one subscribed to them, or were dropped after an erasure.
   */
  since(tenantId: number, filter: EventFilter, position: Cursor): readonly LoggedEvent[] | undefined;
  /**
   * Waits for the first outcome of a message among the events read from now on: call it before the message is accepted. Resolves to
   * undefined after `timeoutMs` and on `cancel`, and never rejects.
   */
  awaitOutcome(tenantId: number, messageId: string, timeoutMs: number): PendingOutcome;
  /** Called after each batch with the event types in it. @returns a function that unsubscribes */
  onRead(listener: (types: ReadonlySet<EventType>) => void): () => void;
  start(): Promise<void>;
  stop(): Promise<void>;
}

/** Thrown into a subscription whose client reads more slowly than events arrive. */
export class SubscriberOverflow extends Error {
  override readonly name = 'SubscriberOverflow';
}

const QUEUE_LIMIT = 1_000;
const BATCH = 500;
/** Reading pauses above this length, because the next batch might overflow the queue. */
const BACKPRESSURE_LENGTH = QUEUE_LIMIT - BATCH;
/**
 * Backpressure: events are read faster than they are sent, so reading pauses while subscribers drain their queues. A subscriber
 * that makes no progress for this many turns, or is still behind after this long, may overflow.
 */
const STANDSTILL_TURNS = 100;
const TURN_MS = 2;
const MAX_DRAIN_MS = 2_000;
/** Size of the replay buffer, in events: a few megabytes. */
const BUFFER_SIZE = 4_000;
const MIN_POLL_MS = 4;
/** Poll interval while an older transaction is open: each poll then queries the locks on the log too. */
const BLOCKED_POLL_MS = 20;
/** Poll interval of an idle tailer, because signals may be lost. */
const MAX_POLL_MS = 500;
/**
 * Maximum reads per second of a process without subscribers, after a burst. Each read takes two statements, and without subscribers
 * it only wakes the readers of the log. With subscribers, every signal causes a read at once.
 */
const UNWATCHED_READS_PER_SECOND = 5;
/** The same for a process that has no readers of the log either. It reads, so that the first subscriber has little to catch up with. */
const IDLE_READS_PER_SECOND = 2;
const UNWATCHED_BURST = 20;

type Listener = (event: LoggedEvent) => void;

/** Outcomes of an accepted message. */
const OUTCOMES: ReadonlySet<EventType> = new Set([
  'message.sent',
  'message.delivered',
  'message.read',
  'message.failed',
  'message.cancelled',
]);

export function createEventBus(db: Database, horizon: Horizon, signals: Signals, metrics: Metrics, log: Log): EventBus {
  const listeners = new Map<number, Set<Listener>>();
  const interests = new Interests();
  const queues = new Set<EventQueue>();
  const readListeners = new Set<(types: ReadonlySet<EventType>) => void>();
  let cursor: Cursor = { xid: 0n, seq: 0 };
  /** Replay buffer, without gaps after `bufferedSince`. */
  let buffer: BufferedEvent[] = [];
  let bufferedSince = cursor;
  /** All events up to this sequence number have been read; while it is the last one, the log need not be read. */
  let completeSeq = -1;
  let pollMs = MAX_POLL_MS;
  let timer: NodeJS.Timeout | undefined;
  let reading: Promise<void> | undefined;
  let stopped = false;
  let signalled = false;
  /** Token bucket of reads without subscribers. */
  let availableReads = UNWATCHED_BURST;
  let refilledAtMs = performance.now();

  function listen(tenantId: number, types: ReadonlySet<EventType>, take: Listener): () => void {
    const set = listeners.get(tenantId) ?? new Set();
    const listener: Listener = event => {
      if (types.has(event.type)) take(event);
    };
    set.add(listener);
    listeners.set(tenantId, set);
    const unsubscribe = interests.add(tenantId, types);
    metrics.subscribers.inc();
    // Ends the pause between reads without subscribers. Without a timer, the bus is not started or is reading.
    if (timer) poll();
    return () => {
      if (!set.delete(listener)) return;
      unsubscribe();
      metrics.subscribers.dec();
      if (set.size === 0) listeners.delete(tenantId);
    };
  }

  async function readNew(): Promise<void> {
    for (;;) {
      signalled = false;
      const { position, seq, isComplete } = await horizon.advance();
      const rows = seq === completeSeq ? [] : await readBelow(position);
      if (isComplete && rows.length < BATCH) completeSeq = seq;
      for (const row of rows) {
        cursor = { xid: BigInt(row.xid), seq: row.seq };
        const event = { ...row, cursor };
        buffer.push(event);
        if (hasPayload(event)) for (const listener of listeners.get(row.tenant_id) ?? []) listener(event);
      }
      trimBuffer();
      forgetErased(rows);
      metrics.eventsRead.inc(rows.length);
      if (rows.length > 0) {
        const types = new Set(rows.map(row => row.type));
        for (const listener of readListeners) listener(types);
      }
      // An older open transaction may still hide committed events: poll soon, then back off.
      const soonMs = horizon.isBlocked ? BLOCKED_POLL_MS : MIN_POLL_MS;
      pollMs = rows.length > 0 ? soonMs : Math.min(MAX_POLL_MS, Math.max(soonMs, pollMs * 2));
      if (rows.length < BATCH && !(signalled && isWatched())) return;
      await waitForSubscribers();
    }
  }

  async function readBelow(position: Cursor): Promise<ReadRow[]> {
    for (;;) {
      const rows = await readAll(db.read, cursor, position, BATCH, interests);
      // A tenant that subscribed during the read needs payloads: read the batch again.
      if (!rows.some(row => row.payload === null && interests.has(row.tenant_id, row.type))) return rows;
    }
  }

  /** Drops half of the buffer at once: removing single events would move the others each time. */
  function trimBuffer(): void {
    if (buffer.length <= BUFFER_SIZE) return;
    const kept = buffer.slice(-BUFFER_SIZE / 2);
    bufferedSince = buffer.at(-kept.length - 1)?.cursor ?? bufferedSince;
    buffer = kept;
  }

  /**
   * Drops the buffered payloads of tenants that erased a contact, all of them, because a payload may name other people than its contact.
   * Replays then read the log, whose payloads are blanked before it has `contact.erased`.
   */
  function forgetErased(rows: readonly ReadRow[]): void {
    const tenantIds = new Set(rows.filter(({ type }) => type === 'contact.erased').map(row => row.tenant_id));
    if (tenantIds.size === 0) return;
    buffer = buffer.map(event => (tenantIds.has(event.tenant_id) ? { ...event, payload: null } : event));
  }

  /** Resolves when every queue has room for another batch, or after `MAX_DRAIN_MS`. */
  async function waitForSubscribers(): Promise<void> {
    // Overflowed queues have ended and are not waited for.
    const queuedEvents = (): number =>
      [...queues].reduce((sum, queue) => (queue.length > BACKPRESSURE_LENGTH ? sum + queue.length : sum), 0);
    const deadline = performance.now() + MAX_DRAIN_MS;
    let left = queuedEvents();
    // Counts turns rather than time: a busy process gives subscribers no chance to drain.
    for (let idleTurns = 0; left > 0 && idleTurns < STANDSTILL_TURNS; idleTurns += 1) {
      await new Promise(resolve => setTimeout(resolve, TURN_MS));
      const now = queuedEvents();
      if (stopped || performance.now() > deadline) return;
      if (now < left) idleTurns = 0;
      left = now;
    }
  }

  const isWatched = (): boolean => listeners.size > 0;

  /** Takes a read from the token bucket. @returns 0 if the read may start now, otherwise the milliseconds to wait */
  function takeRead(): number {
    const nowMs = performance.now();
    const readsPerSecond = readListeners.size > 0 ? UNWATCHED_READS_PER_SECOND : IDLE_READS_PER_SECOND;
    const added = ((nowMs - refilledAtMs) * readsPerSecond) / SECOND;
    availableReads = Math.min(UNWATCHED_BURST, availableReads + added);
    refilledAtMs = nowMs;
    if (!isWatched() && availableReads < 1) return Math.ceil(((1 - availableReads) * SECOND) / readsPerSecond);
    availableReads = Math.max(0, availableReads - 1);
    return 0;
  }

  function poll(): void {
    if (stopped || reading) return;
    clearTimeout(timer);
    const waitMs = takeRead();
    if (waitMs > 0) {
      timer = setTimeout(poll, waitMs);
      return;
    }
    timer = undefined;
    reading = readNew()
      .catch(error => {
        pollMs = MAX_POLL_MS;
        log.warn({ err: error }, 'the event log could not be read; retrying');
      })
      .finally(() => {
        reading = undefined;
        if (!stopped) timer = setTimeout(poll, pollMs);
      });
  }

  const unsubscribeSignal = signals.on('events', () => {
    signalled = true;
    pollMs = MIN_POLL_MS;
    poll();
  });

  return {
    get position() {
      return cursor;
    },

    subscribe(tenantId, filter) {
      const queue = new EventQueue();
      queues.add(queue);
      const unsubscribe = listen(tenantId, filter.types, event => {
        if (hasFacets(event, filter.facets ?? [])) queue.push(event);
      });
      return {
        close() {
          unsubscribe();
          queues.delete(queue);
          queue.end();
        },
        [Symbol.asyncIterator]: () => queue,
      };
    },

    since(tenantId, filter, position) {
      if (isAfter(bufferedSince, position)) return undefined;
      const missed = buffer.filter(
        event => event.tenant_id === tenantId && isAfter(event.cursor, position) && filter.types.has(event.type),
      );
      return missed.every(hasPayload) ? missed.filter(event => hasFacets(event, filter.facets ?? [])) : undefined;
    },

    awaitOutcome(tenantId, messageId, timeoutMs) {
      let cancel = (): void => {};
      const message = new Promise<OutcomeMessage | undefined>(resolve => {
        const unsubscribe = listen(tenantId, OUTCOMES, event => {
          const row = event.payload['message'] as OutcomeMessage | undefined;
          if (row?.id === messageId) done(row);
        });
        const timeout = setTimeout(() => done(undefined), timeoutMs);
        function done(row: OutcomeMessage | undefined): void {
          unsubscribe();
          clearTimeout(timeout);
          resolve(row);
        }
        cancel = () => done(undefined);
      });
      return { message, cancel: () => cancel() };
    },

    onRead(listener) {
      readListeners.add(listener);
      return () => readListeners.delete(listener);
    },

    async start() {
      cursor = positionBefore((await horizon.advance()).position);
      bufferedSince = cursor;
      poll();
    },

    async stop() {
      stopped = true;
      unsubscribeSignal();
      clearTimeout(timer);
      await reading;
    },
  };
}

const hasPayload = (event: BufferedEvent): event is LoggedEvent => event.payload !== null;

/** A bounded queue read through an async iterator. Events already queued are delivered after `end`. */
class EventQueue implements AsyncIterableIterator<LoggedEvent> {
  #events: LoggedEvent[] = [];
  #waiting: (() => void) | undefined;
  #ended = false;
  #overflowed = false;

  /** Number of queued events. */
  get length(): number {
    return this.#ended ? 0 : this.#events.length;
  }

  push(event: LoggedEvent): void {
    if (this.#ended) return;
    if (this.#events.length >= QUEUE_LIMIT) {
      this.#overflowed = true;
      this.end();
      return;
    }
    this.#events.push(event);
    this.#waiting?.();
  }

  end(): void {
    this.#ended = true;
    this.#waiting?.();
  }

  async next(): Promise<IteratorResult<LoggedEvent>> {
    for (;;) {
      const event = this.#events.shift();
      if (event) return { done: false, value: event };
      if (this.#overflowed) throw new SubscriberOverflow('The subscriber reads events more slowly than they arrive.');
      if (this.#ended) return { done: true, value: undefined };
      await new Promise<void>(resolve => {
        this.#waiting = resolve;
      });
      this.#waiting = undefined;
    }
  }

  async return(): Promise<IteratorResult<LoggedEvent>> {
    this.end();
    return { done: true, value: undefined };
  }

  [Symbol.asyncIterator](): this {
    return this;
  }
}
