/**
 * Hints between processes that there is something to read. A lost signal causes a delay, not a loss, because receivers also poll.
 */
export interface Signals {
  /** Notifies listeners of this process at once, those of other processes soon: see `Urgency`. Never throws. */
  send(topic: string, urgency?: Urgency): void;
  /** @returns a function that unsubscribes */
  on(topic: string, listener: (topic: string) => void): () => void;
  close(): Promise<void>;
}

/**
 * `soon`, within 10 ms, if a client waits for the result (a message to send) or a delay would be harmful (a revoked token). `later`: within
 * 20 ms, or 150 while a process sends more than one in 150 ms and has used up its burst.
 */
export type Urgency = 'soon' | 'later';

/** Transport of signals between processes: PostgreSQL's NOTIFY, or Redis if configured. */
export interface SignalTransport {
  /** Starts to listen and reconnects after failures. Never throws. */
  open(callbacks: {
    /** Called with messages of other processes, not with this process's own. */
    onMessage(message: string): void;
    /** Called for each new connection: pending signals can be sent. */
    onReady(): void;
  }): void;
  isReady(): boolean;
  /** Sends one message of at most 8,000 bytes, or drops it. Never rejects. */
  send(message: string): Promise<void>;
  close(): Promise<void>;
}

/**
 * NOTIFY takes a database-wide lock until its commit is done (780 instead of 8,100 commits a second if each notifies), so it is never
 * part of another transaction, and each listening process takes a transaction to receive it. The first signal is sent at once; those of
 * the following milliseconds are sent together. Full messages are sent without a pause.
 */
const SPACING_MS: Readonly<Record<Urgency, number>> = { soon: 10, later: 20 };
/** Time between messages under load, after a burst of 20 at the shorter spacing. Receivers then work in batches anyway. */
const SUSTAINED_SPACING_MS = 150;
const BURST_MS = 20 * SUSTAINED_SPACING_MS;
/** Topics per message; they are short, so that a hundred stay well below the maximum size. */
const TOPICS_PER_MESSAGE = 100;

type Listener = (topic: string) => void;

/** Signals over any transport. Topics are short words without spaces: `events`, `outbox:12:3`. */
export function createSignals(transport: SignalTransport): Signals {
  const listeners = new Map<string, Set<Listener>>();
  const waiting = new Set<string>();
  let flushTimer: NodeJS.Timeout | undefined;
  let flushAtMs = Number.POSITIVE_INFINITY;
  let flushedAtMs = Number.NEGATIVE_INFINITY;
  /**
   * The theoretical arrival time of the next message at the sustained spacing (GCRA), limited to one burst ahead of the last message.
   * `soon` and full messages do not wait for it.
   */
  let theoreticalAtMs = Number.NEGATIVE_INFINITY;
  let isFlushing = false;
  /** The highest urgency among the waiting signals. */
  let highestUrgency: Urgency = 'later';
  let closed = false;

  function emit(topic: string): void {
    // `outbox:12:3` reaches the listeners of `outbox:12:3` and those of `outbox`.
    for (const name of new Set([topic, topic.split(':', 1)[0] ?? topic])) {
      for (const listener of listeners.get(name) ?? []) listener(topic);
    }
  }

  async function flush(): Promise<void> {
    flushAtMs = Number.POSITIVE_INFINITY;
    if (!transport.isReady() || waiting.size === 0) return;
    isFlushing = true;
    flushedAtMs = performance.now();
    theoreticalAtMs = Math.min(Math.max(theoreticalAtMs, flushedAtMs), flushedAtMs + BURST_MS) + SUSTAINED_SPACING_MS;
    const topics = [...waiting].slice(0, TOPICS_PER_MESSAGE);
    for (const topic of topics) waiting.delete(topic);
    if (waiting.size === 0) highestUrgency = 'later';
    await transport.send(topics.join(' '));
    isFlushing = false;
    if (transport.isReady() && waiting.size > 0) schedule();
  }

  function nextMessageMs(): number {
    if (waiting.size >= TOPICS_PER_MESSAGE) return flushedAtMs;
    const soonestMs = flushedAtMs + SPACING_MS[highestUrgency];
    return highestUrgency === 'soon' ? soonestMs : Math.max(soonestMs, theoreticalAtMs - BURST_MS);
  }

  /** One message at a time. */
  function schedule(): void {
    const dueMs = nextMessageMs();
    if (closed || isFlushing || dueMs >= flushAtMs) return;
    clearTimeout(flushTimer);
    flushAtMs = dueMs;
    flushTimer = setTimeout(() => void flush(), Math.max(0, dueMs - performance.now()));
  }

  transport.open({
    onMessage(message) {
      for (const topic of message.split(' ')) emit(topic);
    },
    // Signals from before the connection existed.
    onReady() {
      if (waiting.size > 0) schedule();
    },
  });

  return {
    send(topic, urgency = 'later') {
      emit(topic);
      waiting.add(topic);
      if (urgency === 'soon') highestUrgency = urgency;
      schedule();
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
      await transport.close();
    },
  };
}
