import { type ConstructorOptions, PgBoss } from 'pg-boss';
import { MINUTE, SECOND } from './clock.ts';
import type { Log } from './log.ts';
import type { Signals } from './signals.ts';
import { measureStrain } from './strain.ts';

/** One lane under way: what its drain may ask and must obey. */
export interface Lane {
  readonly key: string;
  /** Aborted when this process stops, when another one has taken the lane over, or is to take it. */
  readonly signal: AbortSignal;
  /** Resolves `true` when something new was put into the lane, `false` after `ms` without. */
  wait(ms: number): Promise<boolean>;
  /** As `wait`, for a lane that is empty: it ends at once when another lane waits for a place in this process. */
  linger(ms: number): Promise<boolean>;
}

export type Drain = (lane: Lane) => Promise<void>;

/**
 * Lanes: work that is done in order under one key by at most one process at a time. The rows of a feature's table are
 * the queue; a job of pg-boss only says "look". With the policy `exclusive` there is at most one job per key, waiting or
 * running, so thousands of wake-ups are still one. One that comes while the lane is being drained reaches it as a signal;
 * for the moment in which it would reach nobody, it is repeated once.
 *
 * Not the policy `stately` (one waiting beside one running): the waiting job of a busy lane stands at the head of the queue
 * and cannot be fetched, so pg-boss fetches nothing, also for other lanes. It steps over keys that its statistics call
 * busy, but those are up to a minute old, and so it also steps over lanes that have long been free.
 *
 * A lane that never gets empty stays where it is, and so the process that was there first might drain them all while another one
 * idles. So who has a place to spare says so, and who has at least two lanes more, and more to do than it can, gives one up.
 */
export interface Jobs {
  /** Asks for the lane to be drained soon. Never throws: a lost wake-up is found by the lane's sweep. */
  wake(queue: string, key: string): void;
  /** Drains lanes of a queue in this process, `concurrency` of them at a time. */
  work(queue: string, concurrency: number, drain: Drain): Promise<void>;
  /** Stops taking lanes, lets those under way finish their step (up to `timeoutMs`), and ends. */
  stop(timeoutMs: number): Promise<void>;
}

/** Beyond the time that a lane needs from its last look to the end of its job. */
const ASK_AGAIN_MS = 250;
/** How often a process says that it has a place to spare, and how many lanes it has. */
const ROOM_MS = 2 * SECOND;
const ROOM = 'room';
/** So long a process that has given a lane up takes none, so that the other one gets it. */
const YIELD_MS = SECOND;
const POLICY = 'exclusive';
/** A lane whose process died is taken over after a heartbeat, a round of supervision and a poll: 20 s at the worst. */
const HEARTBEAT_SECONDS = 10;
const SUPERVISE_SECONDS = 5;
const POLL_SECONDS = 5;

const options = (url: string): ConstructorOptions => ({
  connectionString: url,
  application_name: 'parley jobs',
  max: 4,
  superviseIntervalSeconds: SUPERVISE_SECONDS,
  monitorIntervalSeconds: SUPERVISE_SECONDS,
  maintenanceIntervalSeconds: 5 * 60,
  schedule: false,
});

/** Creates or updates the job tables; part of `parley migrate`. */
export async function migrateJobs(url: string): Promise<void> {
  const boss = new PgBoss({ ...options(url), supervise: false });
  await boss.start();
  await boss.stop({ graceful: false });
}

/** @param isStrained whether this process has more to do than it can */
export async function createJobs(
  url: string,
  queues: readonly string[],
  signals: Signals,
  log: Log,
  isStrained: () => boolean = measureStrain(),
): Promise<Jobs> {
  const boss = new PgBoss(options(url));
  boss.on('error', error => log.error({ err: error }, 'the job queue reported an error'));
  await boss.start();
  for (const queue of queues) {
    // A queue keeps the policy it was made with. Jobs are only wake-ups: what they would have found, the sweep finds.
    const present = await boss.getQueue(queue);
    if (present && present.policy !== POLICY) await boss.deleteQueue(queue);
    await boss.createQueue(queue, {
      policy: POLICY,
      heartbeatSeconds: HEARTBEAT_SECONDS,
      expireInSeconds: 23 * 60 * 60,
      retryLimit: 1_000,
      retryDelay: 0,
      retentionSeconds: 24 * 60 * 60,
      deleteAfterSeconds: 60,
    });
  }

  const stopping = new AbortController();
  const running = new Map<string, RunningLane>();
  const asked = new Set<string>();
  /** By lane: when it is to be asked for once more. */
  const askedAgain = new Map<string, number>();
  const forgetSignals: (() => void)[] = [];

  const laneName = (queue: string, key: string): string => `${queue}:${key}`;

  async function ask(queue: string, key: string): Promise<void> {
    const name = laneName(queue, key);
    try {
      const created = await boss.send(queue, { key }, { singletonKey: key });
      signals.send(name);
      // There is a job already. Running, it hears the signal, unless it has had its last look and is only about to end.
      if (created === null) askAgain(queue, key);
    } catch (error) {
      log.warn({ err: error, lane: name }, 'a lane could not be woken; its sweep will find it');
    } finally {
      asked.delete(name);
    }
  }

  /** One more time, that late after the last wake-up which found a job there; a lane that goes on and on is asked no more often than that. */
  function askAgain(queue: string, key: string): void {
    const name = laneName(queue, key);
    const ended = (): boolean => stopping.signal.aborted;
    const due = performance.now() + ASK_AGAIN_MS;
    if (askedAgain.has(name)) {
      askedAgain.set(name, due);
      return;
    }
    askedAgain.set(name, due);
    const look = (): void => {
      const ms = (askedAgain.get(name) ?? 0) - performance.now();
      if (ms > 0 && !ended()) {
        setTimeout(look, ms).unref();
        return;
      }
      askedAgain.delete(name);
      if (ended()) return;
      boss.send(queue, { key }, { singletonKey: key }).then(
        created => created !== null && signals.send(name),
        error => log.warn({ err: error, lane: name }, 'a lane could not be woken; its sweep will find it'),
      );
    };
    setTimeout(look, ASK_AGAIN_MS).unref();
  }

  function wake(queue: string, key: string): void {
    const name = laneName(queue, key);
    const lane = running.get(name);
    if (lane) lane.poke();
    else if (!asked.has(name) && !stopping.signal.aborted) {
      asked.add(name);
      void ask(queue, key);
    }
  }

  return {
    wake,

    async work(queue, concurrency, drain) {
      const idle: string[] = [];
      const places: Places = { isFull: () => idle.length === 0, lingering: new Set() };
      const held = new Set<RunningLane>();
      let yieldsUntil = 0;
      /** Asks for a job; later, while another process is to have it. */
      const soon = (ask: () => void): void => {
        const ms = yieldsUntil - performance.now();
        if (ms <= 0) ask();
        else setTimeout(() => stopping.signal.aborted || ask(), ms).unref();
      };
      const run = async (key: string, claim: AbortSignal): Promise<void> => {
        const name = laneName(queue, key);
        const lane = new RunningLane(key, AbortSignal.any([claim, stopping.signal]), places);
        running.set(name, lane);
        held.add(lane);
        try {
          await drain(lane);
        } catch (error) {
          log.error({ err: error, lane: name }, 'a lane stopped on an error; it is tried again');
          await lane.wait(SECOND);
          lane.poke();
        } finally {
          running.delete(name);
          held.delete(lane);
        }
        // Poked between its last look and now: look again. Given up: somebody else is to look.
        if (lane.poked || lane.isGivenUp) wake(queue, key);
      };
      // Workers one by one rather than `localConcurrency`: a wake-up has to reach one that is idle, and of a group pg-boss
      // wakes the first alone. While that one drained a lane, every other lane waited for the next poll.
      const fetch = {
        batchSize: 1,
        pollingIntervalSeconds: POLL_SECONDS,
        heartbeatRefreshSeconds: HEARTBEAT_SECONDS / 3,
      };
      for (let count = 0; count < concurrency; count += 1) {
        const worker: string = await boss.work<{ key: string }>(queue, fetch, async ([job]) => {
          if (!job) return;
          idle.splice(idle.indexOf(worker), 1);
          try {
            await run(job.data.key, job.signal);
          } finally {
            idle.push(worker);
            // There may be lanes for which nobody was idle: look once more before waiting.
            soon(() => boss.notifyWorker(worker));
          }
        });
        idle.push(worker);
      }
      const callOne = (): void => {
        // The one that was called longest ago, so that two wake-ups reach two workers.
        const worker = idle.shift();
        if (worker === undefined) {
          // All places are taken: a lane that only waits for more gives its own up.
          const [lingering] = places.lingering;
          lingering?.release();
          return;
        }
        idle.push(worker);
        boss.notifyWorker(worker);
      };
      // Something was put into a lane, here or in another process: it is either drained here, or there may be a job to fetch.
      forgetSignals.push(
        signals.on(queue, topic => {
          const lane = running.get(topic);
          if (lane) lane.poke();
          else soon(callOne);
        }),
        signals.on(ROOM, topic => {
          const [, of, count] = topic.split(':');
          if (of !== queue) return;
          const busy = [...held].filter(lane => !lane.isGivenUp && !places.lingering.has(lane));
          // Asked each time, so that it is of the time since the last.
          if (!isStrained() || busy.length < Number(count) + 2 || performance.now() < yieldsUntil) return;
          yieldsUntil = performance.now() + YIELD_MS;
          busy[0]?.giveUp();
        }),
      );
      const telling = setInterval(() => {
        if (idle.length > 0) signals.send(`${ROOM}:${queue}:${held.size}`);
      }, ROOM_MS);
      telling.unref();
      forgetSignals.push(() => clearInterval(telling));
    },

    async stop(timeoutMs) {
      stopping.abort();
      for (const forget of forgetSignals) forget();
      await boss.stop({ graceful: true, timeout: Math.min(timeoutMs, MINUTE), close: true });
    },
  };
}

/** The places in which one process drains the lanes of a queue. */
interface Places {
  isFull(): boolean;
  /** Lanes that are empty and keep their place for what may come. */
  readonly lingering: Set<RunningLane>;
}

class RunningLane implements Lane {
  readonly #places: Places;
  readonly key: string;
  readonly signal: AbortSignal;
  readonly #own = new AbortController();
  poked = false;
  /** Several may wait at once: a drain races its waits against the answers of the network. */
  readonly #waiting = new Set<(poked: boolean) => void>();

  constructor(key: string, signal: AbortSignal, places: Places) {
    this.key = key;
    this.signal = AbortSignal.any([signal, this.#own.signal]);
    this.#places = places;
  }

  get isGivenUp(): boolean {
    return this.#own.signal.aborted;
  }

  /** Has it ended here, to go on in another process. */
  giveUp(): void {
    this.#own.abort();
  }

  /** The mark stays until somebody begins to wait: a poke that comes while nobody does is not lost. */
  poke(): void {
    this.poked = true;
    for (const wakeUp of this.#waiting) wakeUp(true);
  }

  /** Ends what waits, as if its time were over. */
  release(): void {
    for (const wakeUp of this.#waiting) wakeUp(false);
  }

  async linger(ms: number): Promise<boolean> {
    if (!this.poked && this.#places.isFull()) return false;
    this.#places.lingering.add(this);
    try {
      return await this.wait(ms);
    } finally {
      this.#places.lingering.delete(this);
    }
  }

  async wait(ms: number): Promise<boolean> {
    if (this.poked) {
      this.poked = false;
      return true;
    }
    if (this.signal.aborted) return false;
    return new Promise<boolean>(resolve => {
      const done = (poked: boolean): void => {
        clearTimeout(timer);
        this.signal.removeEventListener('abort', stop);
        this.#waiting.delete(done);
        resolve(poked);
      };
      const stop = (): void => done(false);
      const timer = setTimeout(stop, ms);
      this.signal.addEventListener('abort', stop, { once: true });
      this.#waiting.add(done);
    });
  }
}
