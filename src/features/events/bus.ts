import type { EventType } from '../../events.ts';
import type { Database } from '../../platform/database.ts';
import type { Log } from '../../platform/log.ts';
import type { Metrics } from '../../platform/metrics.ts';
import type { Signals } from '../../platform/signals.ts';
import type { MessageRow } from '../messages/message.ts';
import { type Cursor, isAfter } from './cursor.ts';
import { currentEnd, type EventRow, readAll } from './log-store.ts';

/** An event as it goes through memory. */
export type LoggedEvent = EventRow & { readonly cursor: Cursor };

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
  subscribe(tenantId: number, types: ReadonlySet<EventType>): Subscriber;
  settled(tenantId: number, messageId: string, timeoutMs: number): Settling;
  start(): Promise<void>;
  stop(): Promise<void>;
}

/** Thrown into a subscription whose client reads more slowly than events come. */
export class SubscriberOverflow extends Error {
  override readonly name = 'SubscriberOverflow';
}

const QUEUE_LIMIT = 1_000;
const BATCH = 1_000;
const MIN_POLL_MS = 4;
/** Signals may be lost: an idle tailer looks by itself this often. */
const MAX_POLL_MS = 500;

type Listener = (event: LoggedEvent) => void;

export function createEventBus(db: Database, signals: Signals, metrics: Metrics, log: Log): EventBus {
  const listeners = new Map<number, Set<Listener>>();
  let cursor: Cursor = { xid: 0n, seq: 0 };
  let pollMs = MAX_POLL_MS;
  let timer: NodeJS.Timeout | undefined;
  let reading: Promise<void> | undefined;
  let stopped = false;
  let signalled = false;

  function listen(tenantId: number, listener: Listener): () => void {
    const set = listeners.get(tenantId) ?? new Set();
    set.add(listener);
    listeners.set(tenantId, set);
    metrics.subscribers.inc();
    return () => {
      if (!set.delete(listener)) return;
      metrics.subscribers.dec();
      if (set.size === 0) listeners.delete(tenantId);
    };
  }

  async function readOn(): Promise<void> {
    for (;;) {
      signalled = false;
      const rows = await readAll(db.read, cursor, BATCH);
      for (const row of rows) {
        cursor = { xid: BigInt(row.xid), seq: row.seq };
        const set = listeners.get(row.tenant_id);
        if (!set) continue;
        const event = { ...row, cursor };
        for (const listener of set) listener(event);
      }
      metrics.eventsRead.inc(rows.length);
      // What was committed may still be hidden by an older transaction that runs: look again soon, then less and less often.
      pollMs = rows.length > 0 ? MIN_POLL_MS : Math.min(MAX_POLL_MS, pollMs * 2);
      if (rows.length < BATCH && !signalled) return;
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
    subscribe(tenantId, types) {
      const queue = new EventQueue();
      const forget = listen(tenantId, event => {
        if (types.has(event.type)) queue.push(event);
      });
      return {
        close() {
          forget();
          queue.end();
        },
        [Symbol.asyncIterator]: () => queue,
      };
    },

    settled(tenantId, messageId, timeoutMs) {
      let cancel = (): void => {};
      const message = new Promise<MessageRow | undefined>(resolve => {
        const forget = listen(tenantId, event => {
          const row = event.payload['message'] as MessageRow | undefined;
          if (row?.id === messageId && row.status !== 'queued') done(row);
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

    async start() {
      cursor = await currentEnd(db.read);
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

/** A bounded queue that is read as an iterator. What is in it is still given after `end`. */
class EventQueue implements AsyncIterableIterator<LoggedEvent> {
  #events: LoggedEvent[] = [];
  #waiting: (() => void) | undefined;
  #ended = false;
  #overflowed = false;

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
