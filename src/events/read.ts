import type { EventType } from '../core/events.ts';
import type { Database, Db } from '../database/database.ts';
import type { Log } from '../platform/log.ts';
import type { Signals } from '../platform/signals.ts';
import type { EventBus } from './bus.ts';
import type { Horizon } from './horizon.ts';
import type { Stretch } from './log.sql.ts';
import { enterReader, lockReader, moveReader, nextStretch } from './readers.sql.ts';

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
export interface Woken {
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
  /** Types that wake the reader. Its position moves past other types with the next sweep. */
  readonly types: ReadonlySet<EventType>;
  /**
   * Consumes a range, set-based: up to 5,000 events of any tenants, most of them irrelevant to the reader.
   * @param trx the transaction that moves the reader's position
   * @returns lanes that have work once it commits
   */
  take(trx: Db, stretch: Stretch): Promise<readonly Woken[]>;
}

const STRETCH = 5_000;

/**
 * Reads up to the horizon known in this process; does nothing while another process reads. Ends early when `signal` is aborted.
 */
export async function runReader(resources: ReaderResources, reader: LogReader, signal: AbortSignal): Promise<void> {
  const { db, horizon, lanes, signals } = resources;
  while (!signal.aborted) {
    const taken = await db.transaction(async trx => {
      const after = await lockReader(trx, reader.name);
      const stretch = after && (await nextStretch(trx, after, horizon.place, STRETCH));
      if (!stretch) return undefined;
      const woken = await reader.take(trx, stretch);
      await moveReader(trx, reader.name, stretch.until);
      return { woken, count: stretch.count };
    });
    if (!taken) return;
    for (const { queue, key } of taken.woken) lanes.wake(queue, key);
    // A reader may have written events itself.
    if (taken.woken.length > 0) signals.send('events');
    if (taken.count < STRETCH) return;
  }
}

/**
 * Pause between rounds. Each round costs several statements: the first event is consumed at once, and a steady stream gets twenty
 * rounds a second.
 */
const PAUSE_MS = 50;

/**
 * Runs the readers in this process.
 * @returns `poke`, for the sweep that finds missed events; `stop`, which waits for the current round
 */
export async function startReaders(
  resources: ReaderResources,
  readers: readonly LogReader[],
): Promise<{ poke(): void; stop(): Promise<void> }> {
  const stopping = new AbortController();
  const followers = readers.map(reader => follower(resources, reader, stopping.signal));
  const { place } = await resources.horizon.advance();
  for (const { name } of readers) await enterReader(resources.db.write, name, place);
  const poke = (): void => {
    for (const { poke: pokeOne } of followers) pokeOne();
  };
  // Later snapshots contain everything the bus has read, so the readers need not poll the log themselves.
  const unsubscribe = resources.bus.onRead(types => {
    for (const { reader, poke: pokeOne } of followers) if ([...types].some(type => reader.types.has(type))) pokeOne();
  });
  poke();
  return {
    poke,
    async stop() {
      unsubscribe();
      stopping.abort();
      await Promise.all(followers.map(({ settled }) => settled()));
    },
  };
}

function follower(
  resources: ReaderResources,
  reader: LogReader,
  signal: AbortSignal,
): { readonly reader: LogReader; poke(): void; settled(): Promise<void> } {
  let running: Promise<void> | undefined;
  let poked = false;

  async function run(): Promise<void> {
    while (poked && !signal.aborted) {
      poked = false;
      try {
        await runReader(resources, reader, signal);
      } catch (error) {
        resources.log.warn(
          { err: error, reader: reader.name },
          'a reader of the log stopped; the sweep starts it again',
        );
        poked = false;
        return;
      }
      await new Promise(resolve => setTimeout(resolve, PAUSE_MS));
    }
  }

  function poke(): void {
    poked = true;
    if (signal.aborted) return;
    running ??= run().finally(() => {
      running = undefined;
      // Poked after the last check.
      if (poked) poke();
    });
  }

  return {
    reader,
    poke,
    async settled() {
      await running;
    },
  };
}
