import type { Resources } from '../../context.ts';
import type { EventType } from '../../events.ts';
import type { Db } from '../../platform/database.ts';
import type { Stretch } from './columns.ts';
import { enterReader, lockReader, moveReader, nextStretch } from './readers-store.ts';

/** A lane that has something to do now. */
export interface Woken {
  readonly queue: string;
  readonly key: string;
}

/**
 * Something that follows the event log for good, in one place for all processes: each event is taken exactly once, whatever
 * process dies. It takes by writing rows (deliveries, replies) in the transaction that moves its place; the work itself is
 * done from those rows, in lanes.
 */
export interface LogReader {
  /** Its name in the table of places. */
  readonly name: string;
  /** What it looks for: events of other types alone do not call it. Its place moves over them with the next sweep. */
  readonly types: ReadonlySet<EventType>;
  /**
   * Takes what concerns it, set-based: a stretch has up to 5,000 events of any tenants, most of which concern nobody.
   * @param trx the transaction that moves the reader's place
   * @returns lanes that have work once it commits
   */
  take(resources: Resources, trx: Db, stretch: Stretch): Promise<readonly Woken[]>;
}

const STRETCH = 5_000;

/** Reads on to the end of the log, or does nothing while another process does. Ends early when `signal` is aborted. */
export async function readOn(resources: Resources, reader: LogReader, signal: AbortSignal): Promise<void> {
  const { db, jobs, signals } = resources;
  while (!signal.aborted) {
    const taken = await db.transaction(async trx => {
      const after = await lockReader(trx, reader.name);
      const stretch = after && (await nextStretch(trx, after, STRETCH));
      if (!stretch) return undefined;
      const woken = await reader.take(resources, trx, stretch);
      await moveReader(trx, reader.name, stretch.until);
      return { woken, count: stretch.count };
    });
    if (!taken) return;
    for (const { queue, key } of taken.woken) jobs.wake(queue, key);
    // A reader may have written events of its own.
    if (taken.woken.length > 0) signals.send('events');
    if (taken.count < STRETCH) return;
  }
}

/** A round costs some statements: the first event is taken at once, and when they come without end, twenty rounds a second are enough. */
const PAUSE_MS = 50;

/**
 * Keeps readers at the end of the log in this process.
 * @returns `poke`, for the sweep that finds what was missed; `stop`, which waits for the round under way
 */
export async function startReaders(
  resources: Resources,
  readers: readonly LogReader[],
): Promise<{ poke(): void; stop(): Promise<void> }> {
  const stopping = new AbortController();
  const followers = readers.map(reader => follower(resources, reader, stopping.signal));
  for (const { name } of readers) await enterReader(resources.db.write, name);
  const poke = (): void => {
    for (const { poke: pokeOne } of followers) pokeOne();
  };
  // What this process has read of the log, every later snapshot shows too: no need to poll once more for each reader.
  const forget = resources.bus.onRead(types => {
    for (const { reader, poke: pokeOne } of followers) if ([...types].some(type => reader.types.has(type))) pokeOne();
  });
  poke();
  return {
    poke,
    async stop() {
      forget();
      stopping.abort();
      await Promise.all(followers.map(({ settled }) => settled()));
    },
  };
}

function follower(
  resources: Resources,
  reader: LogReader,
  signal: AbortSignal,
): { readonly reader: LogReader; poke(): void; settled(): Promise<void> } {
  let running: Promise<void> | undefined;
  let poked = false;

  async function run(): Promise<void> {
    while (poked && !signal.aborted) {
      poked = false;
      try {
        await readOn(resources, reader, signal);
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
      // Poked after its last look.
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
