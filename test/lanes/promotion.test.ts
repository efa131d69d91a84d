import { randomUUID } from 'node:crypto';
import { expect, test } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { eventually } from '../support/gateway.ts';
import { PROMOTE, setTimeline } from '../support/timeline.ts';
import { createWorkTable, startProcess } from './work.ts';

/** Claims of rows with an external effect after the promotion of a standby, which may lack the last commits. */

const LEASE_MS = 1_000;
const idle = async (): Promise<undefined> => undefined;

async function workDatabase(
  { onTestFinished }: { onTestFinished(end: () => unknown): void },
  timeline: number | 'error',
): Promise<TestDatabase> {
  const database = await createTestDatabase();
  onTestFinished(() => database.drop());
  await createWorkTable(database);
  await setTimeline(database, timeline);
  return database;
}

test('every process writes what it knew before any of them may claim', async context => {
  const database = await workDatabase(context, 4);
  const [one, two] = [startProcess(context, database), startProcess(context, database)];
  await Promise.all([one.start(idle), two.start(idle)]);
  await eventually(() => expect([one.lanes.timeline, two.lanes.timeline]).toEqual([4, 4]));
  const release = Promise.withResolvers<void>();
  two.resumed.wait = release.promise;
  const before = one.resumed.count;
  await database.query(PROMOTE);
  one.lanes.suspectPromotion();
  expect(one.lanes.timeline).toBeUndefined();
  await eventually(() => expect(one.resumed.count).toBe(before + 1));
  // The other has found the promotion, and is not ready.
  await eventually(() => expect(two.lanes.timeline).toBeUndefined());
  const rows = 'select timeline from lane_processes order by timeline';
  await eventually(async () => expect(await database.query(rows)).toEqual([{ timeline: 4 }, { timeline: 5 }]));
  expect(one.lanes.timeline).toBeUndefined();
  release.resolve();
  await eventually(() => expect([one.lanes.timeline, two.lanes.timeline]).toEqual([5, 5]));
  expect(await database.query(rows)).toEqual([{ timeline: 5 }, { timeline: 5 }]);
});

test('a process that died with the former primary is waited for during two leases', async context => {
  const database = await workDatabase(context, 1);
  await database.query(
    `insert into lane_processes (id, name, places, seen_at, timeline) values ($1, 'dead', '{}', now() - interval '1 minute', 1)`,
    [randomUUID()],
  );
  const process = startProcess(context, database, { leaseMs: LEASE_MS });
  await process.start(idle);
  await eventually(() => expect(process.lanes.timeline).toBe(1));
  const startMs = performance.now();
  await database.query(PROMOTE);
  process.lanes.suspectPromotion();
  await eventually(() => expect(process.lanes.timeline).toBe(2));
  expect(performance.now() - startMs).toBeGreaterThanOrEqual(2 * LEASE_MS);
  await eventually(async () =>
    expect(await database.query('select timeline from lane_processes')).toEqual([{ timeline: 2 }]),
  );
});

test('a promotion is over as soon as no other process is behind', async context => {
  const database = await workDatabase(context, 1);
  const process = startProcess(context, database, { leaseMs: 60_000 });
  await process.start(idle);
  await eventually(() => expect(process.lanes.timeline).toBe(1));
  await database.query(PROMOTE);
  process.lanes.suspectPromotion();
  await eventually(() => expect(process.lanes.timeline).toBe(2), 30_000);
});

test('a server that does not show its timeline is not followed, and holds nothing up', async context => {
  const database = await workDatabase(context, 'error');
  const process = startProcess(context, database);
  await process.start(idle);
  expect(process.lanes.timeline).toBeNull();
  process.lanes.suspectPromotion();
  expect(process.lanes.timeline).toBeNull();
});
