import type { EventType } from '../../events.ts';
import type { Database } from '../../platform/database.ts';
import type { Log } from '../../platform/log.ts';
import type { Metrics } from '../../platform/metrics.ts';
import type { Signals } from '../../platform/signals.ts';
import type { MessageRow } from '../messages/message.ts';
import { type Cursor, isAfter } from './cursor.ts';
import { Interests } from './interests.ts';
import { currentEnd, type EventRow, type ReadRow, readAll } from './log-store.ts';

/** An event as it goes through memory. */
export type LoggedEvent = EventRow & { readonly cursor: Cursor };

/** As it is remembered: without its payload where nobody listened. */
type RememberedEvent = ReadRow & { readonly cursor: Cursor };

/** Which events somebody wants. */
export interface Wanted {
  readonly types: ReadonlySet<EventType>;
  readonly about?: About;
}

/** One message's events, one endpoint's: those whose payload has this id in this field of what stands under the key. */
export interface About {
  readonly key: string;
  readonly field: string;
  readonly id: string | number;
}

export interface Subscriber extends AsyncIterable<LoggedEvent> {
  close(): void;
}

/** A message whose first answer of the network somebody waits for. */
export interface Settling {
  /** The message as it is once the network took or refused it; undefined when the time is over. */
  readonly message: Promise<MessageRow | undefined>;
  cancel(): void;
}

/**
 * The fan-out of the event log in one process: one tailer reads the log past its cursor, every subscriber of a tenant gets
 * that tenant's events in order. Yoga's own pub/sub is not used: a slow subscriber could end the process.
 */
export interface EventBus {
  /** Events that are read from now on. The queue of a subscriber is bounded; overflowing, it ends with `SubscriberOverflow`. */
  subscribe(tenantId: number, wanted: Wanted): Subscriber;
  /**
   * What a tenant's subscriber has missed since a place, from memory: a thousand dashboards that come back after a cut cost
   * the database nothing. Undefined when the place is older than what is remembered, or something was not remembered whole
   * because nobody listened to it.
   */
  since(tenantId: number, wanted: Wanted, place: Cursor): readonly LoggedEvent[] | undefined;
  settled(tenantId: number, messageId: string, timeoutMs: number): Settling;
  /** Told after each part of the log which types of events were in it. @returns a function that ends it */
  onRead(listener: (types: ReadonlySet<EventType>) => void): () => void;
  start(): Promise<void>;
  stop(): Promise<void>;
}

/** Thrown into a subscription whose client reads more slowly than events come. */
export class SubscriberOverflow extends Error {
  override readonly name = 'SubscriberOverflow';
}

const QUEUE_LIMIT = 1_000;
const BATCH = 500;
/** With more than this in a queue, the next batch might not fit. */
const QUEUE_FULL = QUEUE_LIMIT - BATCH;
/**
 * A burst is read faster than it is sent. Reading waits for subscribers who are getting on with it; one who takes nothing for
 * so many turns, or is too far behind after so long, will overflow and hold up nobody else.
 */
const STANDSTILL_TURNS = 100;
const TURN_MS = 2;
const PATIENCE_MS = 2_000;
/** Events that are remembered for those who come back: some megabytes. */
const REMEMBERED = 4_000;
const MIN_POLL_MS = 4;
/** Signals may be lost: an idle tailer looks by itself this often. */
const MAX_POLL_MS = 500;

type Listener = (event: LoggedEvent) => void;

/** What becomes of a message that was accepted. */
const OUTCOMES: ReadonlySet<EventType> = new Set([
  'message.sent',
  'message.delivered',
  'message.read',
  'message.failed',
]);

export function createEventBus(db: Database, signals: Signals, metrics: Metrics, log: Log): EventBus {
  const listeners = new Map<number, Set<Listener>>();
  const interests = new Interests();
  const queues = new Set<EventQueue>();
  const readListeners = new Set<(types: ReadonlySet<EventType>) => void>();
  let cursor: Cursor = { xid: 0n, seq: 0 };
  /** What was read last, without a gap since `rememberedSince`. */
  let remembered: RememberedEvent[] = [];
  let rememberedSince = cursor;
  let pollMs = MAX_POLL_MS;
  let timer: NodeJS.Timeout | undefined;
  let reading: Promise<void> | undefined;
  let stopped = false;
  let signalled = false;

  function listen(tenantId: number, types: ReadonlySet<EventType>, take: Listener): () => void {
    const set = listeners.get(tenantId) ?? new Set();
    const listener: Listener = event => {
      if (types.has(event.type)) take(event);
    };
    set.add(listener);
    listeners.set(tenantId, set);
    const forget = interests.add(tenantId, types);
    metrics.subscribers.inc();
    return () => {
      if (!set.delete(listener)) return;
      forget();
      metrics.subscribers.dec();
      if (set.size === 0) listeners.delete(tenantId);
    };
  }

  async function readOn(): Promise<void> {
    for (;;) {
      signalled = false;
      const rows = await readAll(db.read, cursor, BATCH, interests);
      // Somebody has begun to listen since it was asked for: what he is to get is read as well.
      if (rows.some(row => row.payload === null && interests.has(row.tenant_id, row.type))) continue;
      for (const row of rows) {
        cursor = { xid: BigInt(row.xid), seq: row.seq };
        const event = { ...row, cursor };
        remembered.push(event);
        if (isWhole(event)) for (const listener of listeners.get(row.tenant_id) ?? []) listener(event);
      }
      forgetOldest();
      metrics.eventsRead.inc(rows.length);
      if (rows.length > 0) {
        const types = new Set(rows.map(row => row.type));
        for (const listener of readListeners) listener(types);
      }
      // What was committed may still be hidden by an older transaction that runs: look again soon, then less and less often.
      pollMs = rows.length > 0 ? MIN_POLL_MS : Math.min(MAX_POLL_MS, pollMs * 2);
      if (rows.length < BATCH && !signalled) return;
      await caughtUp();
    }
  }

  /** Half of them at once: taking away one by one would move the others each time. */
  function forgetOldest(): void {
    if (remembered.length <= REMEMBERED) return;
    const kept = remembered.slice(-REMEMBERED / 2);
    rememberedSince = remembered.at(-kept.length - 1)?.cursor ?? rememberedSince;
    remembered = kept;
  }

  /** Resolves when every queue has room for another batch, or the patience with the others is over. */
  async function caughtUp(): Promise<void> {
    // One that has overflowed has ended, and is waited for by nobody.
    const behind = (): number =>
      [...queues].reduce((sum, queue) => (queue.length > QUEUE_FULL ? sum + queue.length : sum), 0);
    const deadline = performance.now() + PATIENCE_MS;
    let left = behind();
    // Turns and not time: a process that is busy elsewhere gives nobody a chance to move.
    for (let still = 0; left > 0 && still < STANDSTILL_TURNS; still += 1) {
      await new Promise(resolve => setTimeout(resolve, TURN_MS));
      const now = behind();
      if (stopped || performance.now() > deadline) return;
      if (now < left) still = 0;
      left = now;
    }
  }

  function poll(): void {
    if (stopped || reading) return;
    clearTimeout(timer);
    reading = readOn()
      .catch(error => {
        pollMs = MAX_POLL_MS;
        log.warn({ err: error }, 'the event log could not be read; trying again');
      })
      .finally(() => {
        reading = undefined;
        if (!stopped) timer = setTimeout(poll, pollMs);
      });
  }

  const forgetSignal = signals.on('events', () => {
    signalled = true;
    pollMs = MIN_POLL_MS;
    poll();
  });

  return {
    subscribe(tenantId, wanted) {
      const queue = new EventQueue();
      queues.add(queue);
      const forget = listen(tenantId, wanted.types, event => {
        if (isAbout(wanted, event)) queue.push(event);
      });
      return {
        close() {
          forget();
          queues.delete(queue);
          queue.end();
        },
        [Symbol.asyncIterator]: () => queue,
      };
    },

    since(tenantId, wanted, place) {
      if (isAfter(rememberedSince, place)) return undefined;
      const missed = remembered.filter(
        event => event.tenant_id === tenantId && isAfter(event.cursor, place) && wanted.types.has(event.type),
      );
      return missed.every(isWhole) ? missed.filter(event => isAbout(wanted, event)) : undefined;
    },

    settled(tenantId, messageId, timeoutMs) {
      let cancel = (): void => {};
      const message = new Promise<MessageRow | undefined>(resolve => {
        const forget = listen(tenantId, OUTCOMES, event => {
          const row = event.payload['message'] as MessageRow | undefined;
          if (row?.id === messageId) done(row);
        });
        const timeout = setTimeout(() => done(undefined), timeoutMs);
        function done(row: MessageRow | undefined): void {
          forget();
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
      cursor = await currentEnd(db.read);
      rememberedSince = cursor;
      poll();
    },

    async stop() {
      stopped = true;
      forgetSignal();
      clearTimeout(timer);
      await reading;
    },
  };
}

const isWhole = (event: RememberedEvent): event is LoggedEvent => event.payload !== null;

function isAbout({ about }: Wanted, { payload }: LoggedEvent): boolean {
  return about === undefined || (payload[about.key] as Record<string, unknown> | undefined)?.[about.field] === about.id;
}

/** A bounded queue that is read as an iterator. What is in it is still given after `end`. */
class EventQueue implements AsyncIterableIterator<LoggedEvent> {
  #events: LoggedEvent[] = [];
  #waiting: (() => void) | undefined;
  #ended = false;
  #overflowed = false;

  /** How many wait. */
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
      if (this.#overflowed) throw new SubscriberOverflow('The subscriber reads more slowly than events come.');
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

/** Whether an event lies behind a place in the log. */
export const isBehind = (event: LoggedEvent, place: Cursor): boolean => isAfter(event.cursor, place);
