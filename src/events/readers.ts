import { setTimeout as sleep } from 'node:timers/promises';
import type { EventType } from '../core/events.ts';
import type { Database, Db } from '../database/database.ts';
import { MINUTE, SECOND } from '../platform/clock.ts';
import type { Log } from '../platform/log.ts';
import type { Signals } from '../platform/signals.ts';
import type { EventBus } from './bus.ts';
import { type Cursor, isSame, positionBefore } from './cursor.ts';
import type { Horizon } from './horizon.ts';
import type { LogRange } from './log.sql.ts';
import { findNextRange, lockReader, registerReader, saveReaderPosition } from './readers.sql.ts';
import { isStatementTimeout, maySetAside, setAsideNext } from './set-aside.ts';

/** Resources of the readers. */
export interface ReaderResources {
  readonly db: Database;
  readonly bus: EventBus;
  readonly horizon: Horizon;
  readonly lanes: { wake(queue: string, key: string): void };
  readonly signals: Signals;
  readonly log: Log;
}

/** A lane that has work. */
export interface LaneKey {
  readonly queue: string;
  readonly key: string;
}

/**
 * A durable consumer of the event log, shared by all processes: each event is consumed exactly once, whichever process dies. It
 * writes rows (deliveries, replies) in the transaction that moves its position; lanes do the work from those rows.
 */
export interface LogReader {
  /** Key of its position in `log_readers`. */
  readonly name: string;
  /** Types that wake the reader at once. Events of other types are skipped when it next runs. */
  readonly types: ReadonlySet<EventType>;
  /**
   * Minimum time from the end of a round to the next, because each round costs several statements. A single event is consumed at once,
   * a steady stream in batches.
   */
  readonly pauseMs: number;
  /**
   * Whether events may concern it now. If not, it skips to the horizon instead of reading: what is created from now on, an endpoint for
   * example, gets later events only.
   * @param after the position of the reader
   */
  isNeeded(trx: Db, after: Cursor): Promise<boolean>;
  /**
   * Consumes a range, set-based: up to 5,000 events of any tenants, most of them irrelevant to the reader. After a failure it gets
   * smaller ranges.
   * @param trx the transaction that moves the reader's position
   * @returns lanes that have work once it commits
   */
  consume(trx: Db, range: LogRange): Promise<readonly LaneKey[]>;
}

const BATCH = 5_000;
/**
 * A range that fails is divided by this for the next attempt. Otherwise a range that takes longer than the statement timeout (5,000 events
 * for 50 endpoints are 250,000 deliveries) would fail at each attempt, and an event that cannot be consumed would also hold back the events
 * before it in its range. Each success doubles the range.
 */
const REDUCTION = 4;

/** What a reader may consume next. */
export interface RangeLimit {
  /** Maximum number of events in its next range. */
  events: number;
  /** The range that was begun last. */
  attempt?: { readonly after: Cursor; readonly count: number };
}

/**
 * An event that fails this often by an error of its own, or by a statement timeout while another event is consumed, is set aside, so that
 * it does not stop its reader for all tenants. Between the failures are 1, 2, 3 … seconds: a row that it refers to may be written or
 * deleted meanwhile.
 */
const MAX_FAILURES = 5;
/**
 * The same for statement timeouts soon after an event was set aside for one: each failure takes the whole timeout (15 s), in which all tenants
 * wait, and events of one cause tend to come in numbers. More than one, because a timeout may be of a busy moment.
 */
const MAX_REPEATED_TIMEOUTS = 2;
const SOON_MS = 10 * MINUTE;

/** `pauseMs` of a reader that is not needed: how late it may be once it is needed again. */
const UNNEEDED_PAUSE_MS = 500;

/**
 * Reads up to the horizon known in this process; does nothing while another process reads. Ends early when `signal` is aborted.
 * @returns the minimum time until the next round
 */
export async function runReader(
  resources: ReaderResources,
  reader: LogReader,
  signal: AbortSignal,
  limit: RangeLimit = { events: BATCH },
): Promise<number> {
  const { db, lanes, signals } = resources;
  while (!signal.aborted) {
    const { events } = limit;
    // Stays so if the range fails; a success sets it again below.
    limit.events = Math.max(1, Math.floor(events / REDUCTION));
    // Read before `isNeeded`: an endpoint it does not see was committed after all events below this horizon, so skipping them loses
    // nothing.
    const horizon = resources.horizon.position;
    delete limit.attempt;
    const consumed = await db.transaction(async trx => {
      const after = await lockReader(trx, reader.name);
      if (!after) return undefined;
      const isNeeded = await reader.isNeeded(trx, after);
      const range = await findNextRange(trx, after, horizon, isNeeded ? events : 1);
      if (!range) return undefined;
      limit.attempt = { after, count: range.count };
      const woken = isNeeded ? await reader.consume(trx, range) : [];
      await saveReaderPosition(trx, reader.name, isNeeded ? range.until : positionBefore(horizon));
      return { isNeeded, woken, count: range.count };
    });
    limit.events = consumed ? Math.min(BATCH, events * 2) : events;
    if (!consumed) break;
    if (!consumed.isNeeded) return UNNEEDED_PAUSE_MS;
    for (const { queue, key } of consumed.woken) lanes.wake(queue, key);
    // A reader may have written events itself.
    if (consumed.woken.length > 0) signals.send('events');
    if (consumed.count < events) break;
  }
  return reader.pauseMs;
}

/**
 * Runs the readers in this process.
 * @param retryStepMs by how much each wait between the failures of an event is longer than the one before
 * @returns `wake`, to be called periodically in case a signal was lost, and `stop`, which waits for the current round
 */
export async function startReaders(
  resources: ReaderResources,
  readers: readonly LogReader[],
  retryStepMs: number = SECOND,
): Promise<{ wake(): void; stop(): Promise<void> }> {
  const stopping = new AbortController();
  const loops = readers.map(reader => createReaderLoop(resources, reader, stopping.signal, retryStepMs));
  const { position } = await resources.horizon.advance();
  for (const { name } of readers) await registerReader(resources.db.write, name, position);
  const wake = (): void => {
    for (const { wake: wakeOne } of loops) wakeOne();
  };
  // Later snapshots contain everything the bus has read, so the readers need not poll the log themselves.
  const unsubscribe = resources.bus.onRead(types => {
    for (const { reader, wake: wakeOne } of loops) if ([...types].some(type => reader.types.has(type))) wakeOne();
  });
  wake();
  return {
    wake,
    async stop() {
      unsubscribe();
      stopping.abort();
      await Promise.all(loops.map(({ settled }) => settled()));
    },
  };
}

function createReaderLoop(
  resources: ReaderResources,
  reader: LogReader,
  signal: AbortSignal,
  retryStepMs: number,
): { readonly reader: LogReader; wake(): void; settled(): Promise<void> } {
  const limit: RangeLimit = { events: BATCH };
  /** Failures of the single event after a position. */
  let failing: { readonly after: Cursor; readonly count: number } | undefined;
  let soonUntil = 0;
  let running: Promise<void> | undefined;
  let isWoken = false;

  async function run(): Promise<void> {
    while (isWoken && !signal.aborted) {
      isWoken = false;
      let pauseMs: number;
      try {
        pauseMs = await runReader(resources, reader, signal, limit);
      } catch (error) {
        resources.log.warn(
          { err: error, reader: reader.name },
          'a reader of the event log failed; the next sweep restarts it',
        );
        const retryMs = maySetAside(error) ? await isolate(error as Error) : undefined;
        isWoken = retryMs !== undefined;
        if (retryMs === undefined) return;
        pauseMs = retryMs;
      }
      // Aborted at the end of the process, which the condition of the loop sees.
      await sleep(pauseMs, undefined, { signal }).catch(() => undefined);
    }
  }

  /** Narrows a failed range down to the event that fails, and sets that aside in the end. @returns the time until the next attempt */
  async function isolate(error: Error): Promise<number | undefined> {
    const { attempt } = limit;
    if (!attempt) return undefined;
    const { after, count: events } = attempt;
    if (events > 1) return 0;
    const count = failing && isSame(after, failing.after) ? failing.count + 1 : 1;
    failing = { after, count };
    const isTimeout = isStatementTimeout(error);
    const most = isTimeout && performance.now() < soonUntil ? MAX_REPEATED_TIMEOUTS : MAX_FAILURES;
    if (count < most) return count * retryStepMs;
    const event = await setAsideNext(
      resources.db,
      reader.name,
      after,
      resources.horizon.position,
      error.message,
      isTimeout ? reader.consume : undefined,
    ).catch((fault: unknown) => {
      resources.log[isTimeout ? 'warn' : 'error']({ err: fault, reader: reader.name }, 'setting an event aside failed');
      return undefined;
    });
    if (!event) return MAX_FAILURES * retryStepMs;
    failing = undefined;
    if (isTimeout) soonUntil = performance.now() + SOON_MS;
    resources.log.error(
      { err: error, reader: reader.name, tenantId: event.tenant_id, eventId: event.event_id },
      'an event that a reader cannot consume is set aside; see `parley readers`',
    );
    return 0;
  }

  function wake(): void {
    isWoken = true;
    if (signal.aborted) return;
    running ??= run().finally(() => {
      running = undefined;
      // Woken after the last check of `isWoken`.
      if (isWoken) wake();
    });
  }

  return {
    reader,
    wake,
    async settled() {
      await running;
    },
  };
}
