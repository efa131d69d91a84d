import type pg from 'pg';
import type { Log } from './log.ts';

/**
 * Hints between processes that something is there to be read. A lost signal delays, it never loses: whoever waits for
 * one also looks by itself now and then.
 */
export interface Signals {
  /** Tells the listeners of this process at once, those of other processes within `COALESCE_MS`. Never throws. */
  send(topic: string): void;
  /** @returns a function that ends listening */
  on(topic: string, listener: (topic: string) => void): () => void;
  close(): Promise<void>;
}

const CHANNEL = 'parley';
/**
 * A NOTIFY takes a lock on the whole database until its commit is done (8,100 commits a second fall to 780 when each
 * notifies), so it never stands in a transaction of work, and a process sends at most one burst in this time.
 */
const COALESCE_MS = 20;
const RECONNECT_MS = 1_000;

type Listener = (topic: string) => void;

/** Signals over PostgreSQL's NOTIFY on a connection of its own. Topics are short: `events`, `outbox:12:3`. */
export function createSignals(connect: () => Promise<pg.Client>, log: Log): Signals {
  const listeners = new Map<string, Set<Listener>>();
  const waiting = new Set<string>();
  let client: pg.Client | undefined;
  let flushTimer: NodeJS.Timeout | undefined;
  let reconnectTimer: NodeJS.Timeout | undefined;
  let closed = false;

  function emit(topic: string): void {
    // `outbox:12:3` reaches the listeners of `outbox:12:3` and those of `outbox`.
    for (const name of new Set([topic, topic.split(':', 1)[0] ?? topic])) {
      for (const listener of listeners.get(name) ?? []) listener(topic);
    }
  }

  function reconnect(reason: unknown): void {
    client = undefined;
    if (closed || reconnectTimer) return;
    log.warn({ err: reason }, 'the connection for signals broke; trying again');
    reconnectTimer = setTimeout(() => {
      reconnectTimer = undefined;
      void open();
    }, RECONNECT_MS);
  }

  async function open(): Promise<void> {
    try {
      const fresh = await connect();
      fresh.on('error', reconnect);
      fresh.on('notification', message => {
        if (message.processId !== processIdOf(fresh))
          for (const topic of (message.payload ?? '').split(' ')) emit(topic);
      });
      await fresh.query(`listen ${CHANNEL}`);
      if (closed) await fresh.end();
      else client = fresh;
      // What was said while there was no connection.
      if (waiting.size > 0) flushSoon();
    } catch (error) {
      reconnect(error);
    }
  }

  /** One burst at a time: the timer counts as set until the burst before has gone. */
  async function flush(): Promise<void> {
    if (client && waiting.size > 0) {
      // A payload may have 8,000 bytes: a hundred topics stay well below.
      const topics = [...waiting].slice(0, 100);
      for (const topic of topics) waiting.delete(topic);
      await client.query('select pg_notify($1, $2)', [CHANNEL, topics.join(' ')]).catch(reconnect);
    }
    flushTimer = undefined;
    if (client && waiting.size > 0) flushSoon();
  }

  function flushSoon(): void {
    if (!closed) flushTimer ??= setTimeout(() => void flush(), COALESCE_MS);
  }

  void open();

  return {
    send(topic) {
      emit(topic);
      waiting.add(topic);
      flushSoon();
    },
    on(topic, listener) {
      const set = listeners.get(topic) ?? new Set();
      set.add(listener);
      listeners.set(topic, set);
      return () => set.delete(listener);
    },
    async close() {
      closed = true;
      clearTimeout(flushTimer);
      clearTimeout(reconnectTimer);
      await client?.end();
    },
  };
}

/** pg knows the backend's process id but does not type it. */
const processIdOf = (client: pg.Client): number | undefined => (client as { processID?: number }).processID;
