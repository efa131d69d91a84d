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

/** What carries signals from one process to the others: PostgreSQL's NOTIFY, or Redis where there is one. */
export interface Wire {
  /** Begins to listen and goes on for as long as it can, through broken connections. Never throws. */
  open(ends: {
    /** What another process sent. Its own messages a process does not hear. */
    heard(message: string): void;
    /** There is a connection, the first or a new one: what waits can be sent. */
    ready(): void;
  }): void;
  isReady(): boolean;
  /** Sends one message of at most 8,000 bytes. What cannot be sent is lost; never rejects. */
  send(message: string): Promise<void>;
  close(): Promise<void>;
}

/**
 * A NOTIFY takes a lock on the whole database until its commit is done (8,100 commits a second fall to 780 when each
 * notifies), so it never stands in a transaction of work, and a process sends at most one burst in this time.
 */
const COALESCE_MS = 20;
/** Topics are short: a hundred of them stay well below the size of a message. */
const TOPICS_PER_MESSAGE = 100;

type Listener = (topic: string) => void;

/** Signals over any wire. Topics are short words without spaces: `events`, `outbox:12:3`. */
export function createSignals(wire: Wire): Signals {
  const listeners = new Map<string, Set<Listener>>();
  const waiting = new Set<string>();
  let flushTimer: NodeJS.Timeout | undefined;
  let closed = false;

  function emit(topic: string): void {
    // `outbox:12:3` reaches the listeners of `outbox:12:3` and those of `outbox`.
    for (const name of new Set([topic, topic.split(':', 1)[0] ?? topic])) {
      for (const listener of listeners.get(name) ?? []) listener(topic);
    }
  }

  /** One burst at a time: the timer counts as set until the burst before has gone. */
  async function flush(): Promise<void> {
    if (wire.isReady() && waiting.size > 0) {
      const topics = [...waiting].slice(0, TOPICS_PER_MESSAGE);
      for (const topic of topics) waiting.delete(topic);
      await wire.send(topics.join(' '));
    }
    flushTimer = undefined;
    if (wire.isReady() && waiting.size > 0) flushSoon();
  }

  function flushSoon(): void {
    if (!closed) flushTimer ??= setTimeout(() => void flush(), COALESCE_MS);
  }

  wire.open({
    heard(message) {
      for (const topic of message.split(' ')) emit(topic);
    },
    // What was said while there was no connection.
    ready() {
      if (waiting.size > 0) flushSoon();
    },
  });

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
      await wire.close();
    },
  };
}
