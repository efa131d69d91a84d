import { sql } from 'kysely';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { analyzeGrown } from '../../src/database/table-statistics.sql.ts';
import { startGateway, type TestGateway } from '../support/gateway.ts';

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startGateway({ role: 'gateway' });
  await gateway.database.query('create table growing (id integer primary key) with (autovacuum_enabled = false)');
});
afterAll(() => gateway.stop());

/** What the planner believes, and what the server has counted. */
async function sizes(): Promise<{ planned: number; live: number } | undefined> {
  const rows = await gateway.database.query<{ planned: number; live: number }>(
    `select c.reltuples::int as planned, pg_stat_get_live_tuples(c.oid)::int as live from pg_class c where c.relname = 'growing'`,
  );
  return rows[0];
}

const analyze = () => analyzeGrown(gateway.gateway.resources.db.write);

/** Sessions report their counts within a second. */
async function change(statement: string, live: number): Promise<void> {
  await gateway.database.query(statement);
  await expect.poll(async () => (await sizes())?.live, { timeout: 20_000 }).toBe(live);
}

test('a table is analyzed when it has doubled, and not again until it doubles again', async () => {
  await change('insert into growing select generate_series(1, 900)', 900);
  expect(await analyze()).not.toContain('growing');
  await change('insert into growing select generate_series(901, 2000)', 2_000);
  expect(await analyze()).toContain('growing');
  expect(await sizes()).toEqual({ planned: 2_000, live: 2_000 });
  expect(await analyze()).not.toContain('growing');
  await change('insert into growing select generate_series(2001, 3900)', 3_900);
  expect(await analyze()).not.toContain('growing');
  await change('insert into growing select generate_series(3901, 4100)', 4_100);
  expect(await analyze()).toContain('growing');
});

test('a queue that was emptied is not taken for empty', async () => {
  await change('delete from growing', 0);
  expect(await analyze()).not.toContain('growing');
  expect((await sizes())?.planned).toBe(4_100);
});

test('a table that is being vacuumed is left to it', async () => {
  const { db } = gateway.gateway.resources;
  await gateway.database.query('vacuum growing');
  await change('insert into growing select generate_series(1, 2000)', 2_000);
  await db.transaction(async trx => {
    await sql`lock table growing in share update exclusive mode`.execute(trx);
    await analyze();
    expect((await sizes())?.planned).toBe(0);
  });
});

test('a table without statistics is analyzed, whatever the server has counted', async () => {
  await gateway.database.query('drop table growing');
  await gateway.database.query('create table growing (id integer primary key) with (autovacuum_enabled = false)');
  await change('insert into growing select generate_series(1, 50000)', 50_000);
  // As after an upgrade of the server.
  await change(`select pg_stat_reset_single_table_counters('growing'::regclass)`, 0);
  expect((await sizes())?.planned).toBe(-1);
  expect(await analyze()).toContain('growing');
  expect((await sizes())?.planned).toBe(50_000);
  await change(`select pg_stat_reset_single_table_counters('growing'::regclass)`, 0);
  expect(await analyze()).not.toContain('growing');
});
