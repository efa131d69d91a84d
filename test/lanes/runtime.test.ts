import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Drain, Lane } from '../../src/lanes/lane.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { eventually } from '../support/gateway.ts';
import { createWorkTable, startProcess } from './work.ts';

const SHORT_LEASE_MS = 1_000;
const wait = (ms: number): Promise<void> => new Promise(resolve => setTimeout(resolve, ms));

/** Each test has its own database: a sweep finds the lanes of all queues. */
async function workDatabase(context: { onTestFinished(end: () => unknown): void }): Promise<TestDatabase> {
  const database = await createTestDatabase();
  context.onTestFinished(() => database.drop());
  await createWorkTable(database);
  return database;
}

const put = (database: TestDatabase, key: string, count = 1): Promise<unknown> =>
  database.query(`insert into work (tenant_id, key) select $1, $2 from generate_series(1, $3)`, [
    Number(key.split(':')[0]),
    key,
    count,
  ]);

/** Processes a lane row by row, and records concurrent drains of one lane. */
function worker(database: TestDatabase) {
  const inside = new Map<string, number>();
  const seen = { overlaps: 0, turns: [] as string[] };
  const drain: Drain = async lane => {
    const count = (inside.get(lane.key) ?? 0) + 1;
    inside.set(lane.key, count);
    if (count > 1) seen.overlaps += 1;
    seen.turns.push(lane.key);
    try {
      while (await lane.ready()) {
        if (lane.isTurnOver()) return 'more';
        const rows = await database.query(
          `update work set done_by = $2 where id = (select id from work where key = $1 and done_by is null order by id limit 1) returning id`,
          [lane.key, lane.epoch],
        );
        if (rows.length === 0 && !(await lane.linger(Math.random() * 30))) return undefined;
      }
      return undefined;
    } finally {
      inside.set(lane.key, (inside.get(lane.key) ?? 1) - 1);
    }
  };
  return { drain, seen };
}

const undone = async (database: TestDatabase): Promise<number> =>
  Number((await database.query<{ count: string }>('select count(*) from work where done_by is null'))[0]?.count);

describe.concurrent('lanes', () => {
  test('three waking and two draining processes complete all work, and never drain one lane concurrently', async context => {
    const database = await workDatabase(context);
    const [one, two, three] = [1, 2, 3].map(() => startProcess(context, database));
    const { drain, seen } = worker(database);
    await Promise.all([one?.start(drain, { slots: 3 }), two?.start(drain, { slots: 3 })]);
    for (let index = 0; index < 300; index += 1) {
      const key = `1:${index % 7}`;
      await put(database, key);
      [one, two, three][index % 3]?.lanes.wake('work', key);
    }
    await eventually(async () => expect(await undone(database)).toBe(0));
    expect(seen.overlaps).toBe(0);
  });

  test('the sweep finds work whose wake-up was lost', async context => {
    const database = await workDatabase(context);
    await startProcess(context, database).start(worker(database).drain);
    await put(database, '1:1');
    await eventually(async () => expect(await undone(database)).toBe(0));
  });

  test('more lanes than slots take turns', async context => {
    const database = await workDatabase(context);
    const { drain, seen } = worker(database);
    const keys = ['1:1', '1:2', '1:3', '1:4', '1:5'];
    for (const key of keys) await put(database, key, 100_000);
    await startProcess(context, database).start(drain, { slots: 2 });
    await eventually(() => expect(new Set(seen.turns)).toEqual(new Set(keys)));
    // The first lanes get their second turn before any lane is empty.
    await eventually(() => expect(seen.turns.filter(key => key === seen.turns[0]).length).toBeGreaterThan(1));
    expect(seen.overlaps).toBe(0);
  });

  test('a failing lane backs off and is retried without blocking others; its error is stored until a turn succeeds', async context => {
    const database = await workDatabase(context);
    const { drain } = worker(database);
    let isBroken = true;
    await put(database, '1:broken');
    await put(database, '1:sound');
    await startProcess(context, database).start(
      async lane => {
        if (lane.key === '1:broken' && isBroken) throw new Error('It does not work yet.');
        return drain(lane);
      },
      { slots: 1 },
    );
    const stored = (key: string) =>
      database.query<{ error: string | null; failures: number }>('select error, failures from lanes where key = $1', [
        key,
      ]);
    const left = () => database.query('select key from work where done_by is null');
    await eventually(async () => expect(await left()).toEqual([{ key: '1:broken' }]));
    // Failed again after the first pause.
    await eventually(async () => {
      const [lane] = await stored('1:broken');
      expect(lane?.error).toBe('It does not work yet.');
      expect(lane?.failures).toBeGreaterThan(1);
    });
    isBroken = false;
    await eventually(async () => expect(await left()).toEqual([]));
    await eventually(async () => expect(await stored('1:broken')).toEqual([{ error: null, failures: 0 }]));
  });

  test('a paused lane is not claimed before its pause ends, even if it is woken and has work', async context => {
    const database = await workDatabase(context);
    const process = startProcess(context, database);
    let turns = 0;
    await put(database, '1:1');
    await process.start(async () => {
      turns += 1;
      return { pauseMs: 60 * 60_000, error: 'held' };
    });
    const held = () =>
      database.query(`select key from lanes where error = 'held' and due_at > now() and holder is null`);
    await eventually(async () => expect(await held()).toHaveLength(1));
    process.lanes.wake('work', '1:1');
    await put(database, '1:2');
    // The sweep has run: another lane was claimed.
    await eventually(async () => expect(await held()).toHaveLength(2));
    expect(turns).toBe(2);
  });

  test('a lingering empty lane gives its slot to a lane with work', async context => {
    const database = await workDatabase(context);
    const process = startProcess(context, database);
    const drained: string[] = [];
    await process.start(
      async lane => {
        drained.push(lane.key);
        await lane.linger(3_600_000);
        return undefined;
      },
      { slots: 2 },
    );
    for (const key of ['1:a', '1:b']) process.lanes.wake('work', key);
    await eventually(() => expect([...drained].sort()).toEqual(['1:a', '1:b']));
    process.lanes.wake('work', '1:c');
    await eventually(() => expect(drained).toContain('1:c'));
  });

  test('after a database outage lanes resume, but only once onResumed has finished', async context => {
    const database = await workDatabase(context);
    const process = startProcess(context, database, { leaseMs: SHORT_LEASE_MS });
    const { drain } = worker(database);
    await process.start(drain);
    const [row] = await database.query<{ name: string }>('select current_database() as name');
    // A database cannot refuse connections through one of its own connections.
    const elsewhere = await createTestDatabase();
    context.onTestFinished(() => elsewhere.drop());
    await elsewhere.query(`alter database ${row?.name} allow_connections false`);
    await database.query(
      'select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()',
    );
    // On a busy machine, the process may have missed a lease before.
    const before = process.resumed.count;
    await wait(2 * SHORT_LEASE_MS);
    expect(process.resumed.count).toBe(before);
    await elsewhere.query(`alter database ${row?.name} allow_connections true`);
    await put(database, '1:after');
    await eventually(async () => expect(await undone(database)).toBe(0));
    expect(process.resumed.count).toBeGreaterThan(before);
  });

  test('stop() lets lanes finish their step, releases them, and claims no more', async context => {
    const database = await workDatabase(context);
    const process = startProcess(context, database);
    const steps: string[] = [];
    await process.start(async lane => {
      steps.push(`${lane.key} begins`);
      expect(await lane.wait(60_000)).toBe(false);
      await wait(50);
      steps.push(`${lane.key} ends`);
      return undefined;
    });
    process.lanes.wake('work', '1:1');
    await eventually(() => expect(steps).toEqual(['1:1 begins']));
    const stopping = process.lanes.stop(60_000);
    process.lanes.wake('work', '1:2');
    await stopping;
    expect(steps).toEqual(['1:1 begins', '1:1 ends']);
    expect(await database.query('select key, holder, lease_until from lanes')).toEqual([
      { key: '1:1', holder: null, lease_until: null },
    ]);
    expect(await database.query('select id from lane_processes')).toEqual([]);
  });

  test('a lane that exceeds the stop timeout stays leased, so that no process starts while it may still be running', async context => {
    const database = await workDatabase(context);
    const process = startProcess(context, database);
    const end = Promise.withResolvers<undefined>();
    const begun = Promise.withResolvers<void>();
    await process.start(() => {
      begun.resolve();
      return end.promise;
    });
    process.lanes.wake('work', '1:1');
    await begun.promise;
    await process.lanes.stop(20);
    expect(await database.query('select key from lanes where holder is not null and lease_until > now()')).toHaveLength(
      1,
    );
    end.resolve(undefined);
  });
});

describe.concurrent('fencing', () => {
  test('a takeover increases the epoch, and the former holder may neither call nor write', async context => {
    const database = await workDatabase(context);
    const [first, second] = [startProcess(context, database), startProcess(context, database)];
    const lanes: Lane[] = [];
    const hold: Drain = async lane => {
      lanes.push(lane);
      while (!lane.signal.aborted) await lane.wait(1_000);
      return undefined;
    };
    await first.start(hold);
    await put(database, '1:1');
    await eventually(() => expect(lanes).toHaveLength(1));
    // Simulates a suspended process: meanwhile another process claimed the lane and stopped as well.
    await database.query(`update lanes set lease_until = now() - interval '1 s', epoch = nextval('lane_epochs')`);
    await second.start(hold);
    await eventually(() => expect(lanes).toHaveLength(2));
    const [old, fresh] = lanes as [Lane, Lane];
    expect(fresh.epoch).toBeGreaterThan(old.epoch);
    expect([old.isTakeover, fresh.isTakeover]).toEqual([false, true]);
    await expect(first.db.transaction(trx => old.fence(trx))).rejects.toThrow('taken over');
    expect(old.mayCall()).toBe(false);
    await second.db.transaction(trx => fresh.fence(trx));
    expect(fresh.mayCall()).toBe(true);
  });

  test.each(['wall', 'monotonic'] as const)(
    'a lease expires as soon as the %s clock says so, and is valid again after its renewal',
    async which => {
      const ends: (() => Promise<void>)[] = [];
      const context = { onTestFinished: (end: () => unknown) => void ends.unshift(async () => void (await end())) };
      const database = await workDatabase(context);
      const ahead = { wall: 0, monotonic: 0 };
      const clock = {
        now: () => Date.now() + ahead.wall,
        monotonic: () => performance.now() + ahead.monotonic,
      };
      const process = startProcess(context, database, { clock });
      const taken = Promise.withResolvers<Lane>();
      await process.start(async lane => {
        taken.resolve(lane);
        while (!lane.signal.aborted) await lane.wait(1_000);
        return undefined;
      });
      await put(database, '1:1');
      const lane = await taken.promise;
      expect(lane.mayCall()).toBe(true);
      ahead[which] += 60_000;
      expect(lane.mayCall()).toBe(false);
      expect(await lane.ready()).toBe(true);
      expect(lane.mayCall()).toBe(true);
      expect(process.resumed.count).toBeGreaterThan(0);
      for (const end of ends) await end();
    },
  );

  test('an epoch is never reused, even after the lane’s row was deleted', async context => {
    const database = await workDatabase(context);
    const epochs: number[] = [];
    const process = startProcess(context, database);
    await process.start(async lane => {
      epochs.push(lane.epoch);
      return undefined;
    });
    for (let round = 1; round <= 3; round += 1) {
      process.lanes.wake('work', '1:1');
      await eventually(async () => {
        expect(epochs).toHaveLength(round);
        expect(await database.query('select key from lanes where holder is null')).toHaveLength(1);
      });
      await database.query('delete from lanes');
    }
    expect(new Set(epochs).size).toBe(3);
    expect([...epochs].sort((a, b) => a - b)).toEqual(epochs);
  });
});

describe('rebalancing', () => {
  let database: TestDatabase;
  beforeAll(async () => {
    database = await createTestDatabase();
    await createWorkTable(database);
  });
  afterAll(() => database.drop());

  test('two processes share 100 busy lanes, at most 65 each, even if the second starts late', async context => {
    const held = [new Set<string>(), new Set<string>()];
    let overlaps = 0;
    const holdAs =
      (index: 0 | 1): Drain =>
      async lane => {
        if (held[1 - index]?.has(lane.key)) overlaps += 1;
        held[index]?.add(lane.key);
        while (!lane.signal.aborted) await lane.wait(60_000);
        held[index]?.delete(lane.key);
        return undefined;
      };
    await database.query(`insert into work (tenant_id, key) select n, n || ':1' from generate_series(1, 100) n`);
    const [one, two] = [1, 2].map(() => startProcess(context, database, { leaseMs: 6_000 }));
    await one?.start(holdAs(0), { slots: 100 });
    await eventually(() => expect(held[0]?.size).toBe(100));
    await two?.start(holdAs(1), { slots: 100 });
    await eventually(() => {
      expect((held[0]?.size ?? 0) + (held[1]?.size ?? 0)).toBe(100);
      expect(Math.max(held[0]?.size ?? 0, held[1]?.size ?? 0)).toBeLessThanOrEqual(65);
    });
    expect(overlaps).toBe(0);
  });
});
