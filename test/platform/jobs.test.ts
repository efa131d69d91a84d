import pg from 'pg';
import { afterAll, beforeAll, expect, type TestContext, test } from 'vitest';
import { createJobs, type Drain, type Jobs } from '../../src/platform/jobs.ts';
import { createLog } from '../../src/platform/log.ts';
import { postgresWire } from '../../src/platform/postgres-wire.ts';
import { createSignals, type Signals } from '../../src/platform/signals.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { durationOf } from '../support/durations.ts';
import { eventually } from '../support/gateway.ts';
import { pollSeldom } from './poll-seldom.ts';

let database: TestDatabase;
let restorePolling: () => void;
beforeAll(async () => {
  restorePolling = pollSeldom();
  database = await createTestDatabase();
});
afterAll(async () => {
  restorePolling();
  await database.drop();
});

const log = createLog('silent');
const wait = (ms: number): Promise<void> => new Promise(resolve => setTimeout(resolve, ms));

/** What one process has: jobs and the signals between processes. */
async function startProcess(
  { onTestFinished }: TestContext,
  queue: string,
  { url } = database,
  isStrained?: () => boolean,
): Promise<{ jobs: Jobs; signals: Signals }> {
  const connect = async () => {
    const client = new pg.Client({ connectionString: url });
    await client.connect();
    return client;
  };
  const signals = createSignals(postgresWire(connect, log));
  const jobs = await createJobs(url, [queue], signals, log, isStrained);
  onTestFinished(async () => {
    await jobs.stop(1_000);
    await signals.close();
  });
  return { jobs, signals };
}

/** Lanes whose rows are counts in memory: how much waits under each key, and how many drain it at the moment. */
function createBoard() {
  const waiting = new Map<string, number>();
  const draining = new Map<string, number>();
  let overlaps = 0;
  let done = 0;
  const drain: Drain = async lane => {
    draining.set(lane.key, (draining.get(lane.key) ?? 0) + 1);
    if ((draining.get(lane.key) ?? 0) > 1) overlaps += 1;
    do {
      for (let left = waiting.get(lane.key) ?? 0; left > 0; left = waiting.get(lane.key) ?? 0) {
        waiting.set(lane.key, left - 1);
        done += 1;
        await wait(Math.random() * 3);
      }
      // Some lanes linger, some end at once: a wake-up has to be heard at every moment between.
    } while (await lane.wait(Math.random() * 30));
    await wait(Math.random() * 5);
    draining.set(lane.key, (draining.get(lane.key) ?? 0) - 1);
  };
  return {
    drain,
    put: (key: string): void => void waiting.set(key, (waiting.get(key) ?? 0) + 1),
    left: () => [...waiting.values()].reduce((sum, count) => sum + count, 0),
    overlaps: () => overlaps,
    done: () => done,
  };
}

test.concurrent('no wake-up is lost and no lane is drained twice at a time, with three processes that wake and two that drain', async context => {
  const board = createBoard();
  const [one, two, three] = await Promise.all([1, 2, 3].map(() => startProcess(context, 'stress')));
  await one?.jobs.work('stress', 3, board.drain);
  await two?.jobs.work('stress', 3, board.drain);
  for (let index = 0; index < 600; index += 1) {
    const key = String(index % 7);
    board.put(key);
    [one, two, three][index % 3]?.jobs.wake('stress', key);
    if (index % 5 === 0) await wait(Math.random() * 20);
  }
  // Without a sweep, and without a poll: what is not drained within this time was lost.
  await eventually(() => expect(board.left()).toBe(0));
  expect(board.done()).toBe(600);
  expect(board.overlaps()).toBe(0);
});

test.concurrent('a lane that is busy, and woken again and again, holds up no other lane, in any process', async context => {
  const [busy, free] = await Promise.all([startProcess(context, 'busy'), startProcess(context, 'busy')]);
  const started = new Set<string>();
  const end = new AbortController();
  context.onTestFinished(() => end.abort());
  const drain: Drain = async lane => {
    started.add(lane.key);
    while (lane.key === 'busy' && !end.signal.aborted && !lane.signal.aborted) await lane.wait(20);
  };
  await busy.jobs.work('busy', 2, drain);
  busy.jobs.wake('busy', 'busy');
  await eventually(() => expect(started.has('busy')).toBe(true));
  await free.jobs.work('busy', 2, drain);
  for (let round = 0; round < 20; round += 1) {
    free.jobs.wake('busy', 'busy');
    await wait(5);
  }
  for (const key of ['a', 'b', 'c', 'd', 'e']) free.jobs.wake('busy', key);
  await eventually(() => expect([...started].sort()).toEqual(['a', 'b', 'busy', 'c', 'd', 'e']));
  end.abort();
});

test.concurrent('a lane that was busy when statistics were made is drained at once when it is free', async context => {
  const first = await startProcess(context, 'stale');
  const end = new AbortController();
  let drained = 0;
  const drain: Drain = async lane => {
    drained += 1;
    while (drained === 1 && !end.signal.aborted) await lane.wait(20);
  };
  await first.jobs.work('stale', 1, drain);
  first.jobs.wake('stale', 'lane');
  // Statistics are made every five seconds, and read by a process when it starts.
  await wait(6_500);
  const second = await startProcess(context, 'stale');
  await second.jobs.work('stale', 1, drain);
  end.abort();
  await wait(500);
  second.jobs.wake('stale', 'lane');
  await eventually(() => expect(drained).toBe(2));
});

test.concurrent('a lane that fails is tried again, and keeps no other from its place', async context => {
  const { jobs } = await startProcess(context, 'failing');
  const seen: string[] = [];
  await jobs.work('failing', 1, async lane => {
    seen.push(lane.key);
    if (lane.key === 'broken' && seen.filter(key => key === 'broken').length < 3)
      throw new Error('It does not work yet.');
  });
  jobs.wake('failing', 'broken');
  jobs.wake('failing', 'sound');
  await eventually(() => expect(seen.filter(key => key === 'broken')).toHaveLength(3));
  expect(seen).toContain('sound');
});

test.concurrent('jobs go on after all connections to the database were cut', async context => {
  const own = await createTestDatabase();
  context.onTestFinished(() => own.drop());
  const { jobs } = await startProcess(context, 'cut', own);
  let drained = 0;
  await jobs.work('cut', 2, async () => {
    drained += 1;
  });
  jobs.wake('cut', 'before');
  await eventually(() => expect(drained).toBe(1));
  await own.query(
    'select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()',
  );
  await eventually(() => {
    jobs.wake('cut', 'after');
    expect(drained).toBeGreaterThan(1);
  });
});

test.concurrent('stopping lets a lane end its step, and takes no other', async context => {
  const { jobs } = await startProcess(context, 'stopping');
  const steps: string[] = [];
  await jobs.work('stopping', 1, async lane => {
    steps.push(`${lane.key} begins`);
    expect(await lane.wait(10_000)).toBe(false);
    expect(lane.signal.aborted).toBe(true);
    await wait(100);
    steps.push(`${lane.key} ends`);
  });
  jobs.wake('stopping', 'one');
  await eventually(() => expect(steps).toEqual(['one begins']));
  const duration = await durationOf(() => jobs.stop(5_000));
  jobs.wake('stopping', 'two');
  await wait(300);
  expect(steps).toEqual(['one begins', 'one ends']);
  expect(duration).toBeLessThan(3_000);
});

test.concurrent('a process that idles gets lanes of one that has more to do than it can, as many as the other keeps, and no more', async context => {
  const keys = ['a', 'b', 'c', 'd'];
  const holders = new Map<string, string[]>();
  let overlaps = 0;
  const drainAs =
    (name: string): Drain =>
    async lane => {
      const present = holders.get(lane.key) ?? [];
      holders.set(lane.key, [...present, name]);
      if (present.length > 0) overlaps += 1;
      while (!lane.signal.aborted) await lane.wait(20);
      await wait(50);
      holders.set(lane.key, []);
    };
  const of = (name: string) => keys.filter(key => holders.get(key)?.[0] === name).length;
  let isStrained = false;
  const first = await startProcess(context, 'shared', database, () => isStrained);
  await first.jobs.work('shared', 4, drainAs('first'));
  for (const key of keys) first.jobs.wake('shared', key);
  await eventually(() => expect(of('first')).toBe(4));
  const second = await startProcess(context, 'shared', database, () => true);
  await second.jobs.work('shared', 4, drainAs('second'));
  // Whoever has time for all keeps all: a lane that changes hands stands still for a moment.
  const told: string[] = [];
  first.signals.on('room', topic => told.push(topic));
  await eventually(() => expect(told).toContain('room:shared:0'), 20_000);
  expect(of('first')).toBe(4);
  isStrained = true;
  await eventually(() => expect([of('first'), of('second')]).toEqual([2, 2]), 40_000);
  told.length = 0;
  await eventually(() => expect(told.filter(topic => topic === 'room:shared:2').length).toBeGreaterThan(1), 30_000);
  expect([of('first'), of('second')]).toEqual([2, 2]);
  expect(overlaps).toBe(0);
}, 100_000);
