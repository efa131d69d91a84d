import pg from 'pg';
import { beforeEach, expect, onTestFinished, test } from 'vitest';
import type { Database } from '../../src/database/database.ts';
import { ensurePartitions } from '../../src/database/partitions.sql.ts';
import { dataOf, payloadOf } from '../support/answers.ts';
import { openTestDatabase, type TestDatabase } from '../support/database.ts';
import { eventually, startGateway } from '../support/gateway.ts';
import { newPhone } from '../support/seed.ts';

const TABLES = ['messages', 'message_states', 'message_updates', 'events', 'webhook_deliveries', 'webhook_attempts'];

let database: TestDatabase;
let db: Database;
beforeEach(async () => {
  const opened = await openTestDatabase({ poolSize: 2 });
  ({ database, db } = opened);
  onTestFinished(() => opened.close());
});

/** The monthly partitions of a table, in order. */
const monthsOf = async (table: string): Promise<string[]> =>
  (
    await database.query<{ name: string }>(
      `select c.relname as name from pg_inherits i join pg_class c on c.oid = i.inhrelid
       where i.inhparent = $1::regclass and c.relname ~ '_[0-9]{6}$' order by 1`,
      [table],
    )
  ).map(({ name }) => name);

/** Drops the last months of a table, as if no process had made them. */
async function dropLast(table: string, count: number): Promise<void> {
  for (const name of (await monthsOf(table)).slice(-count)) await database.query(`drop table ${name}`);
}

test('a month is made when its table is no longer read, and nobody waits for it meanwhile', async () => {
  const before = await monthsOf('events');
  const laterOnes = await monthsOf('messages');
  await dropLast('events', 1);
  await dropLast('messages', 1);
  const backup = new pg.Client({ connectionString: database.url });
  await backup.connect();
  onTestFinished(() => backup.end());
  await backup.query('begin');
  await backup.query('select count(*) from events');

  const ensured = ensurePartitions(db.write, ['events', 'messages'], 3);
  await database.query('select count(*) from events');
  await ensured;
  expect(await monthsOf('events')).toEqual(before.slice(0, -1));
  expect(await monthsOf('messages')).toEqual(laterOnes);

  await backup.query('rollback');
  await ensurePartitions(db.write, ['events', 'messages'], 3);
  expect(await monthsOf('events')).toEqual(before);
});

test('two processes make the months at once', async () => {
  const before = await Promise.all(TABLES.map(monthsOf));
  for (const table of TABLES) await dropLast(table, 2);
  await Promise.all([ensurePartitions(db.write, TABLES, 3), ensurePartitions(db.write, TABLES, 3)]);
  await ensurePartitions(db.write, TABLES, 3);
  expect(await Promise.all(TABLES.map(monthsOf))).toEqual(before);
});

test('rows that came while a month had no partition move into it', async () => {
  const before = await monthsOf('events');
  await dropLast('events', 2);
  await database.query(
    `insert into events (tenant_id, id, type, payload)
     select 1, uuid_v7(now() + make_interval(months => month, secs => n), n), 'x', '{}'
     from generate_series(2, 4) month, generate_series(1, 5) n`,
  );
  const rows = async () => database.query('select * from events order by id');
  const written = await rows();
  await ensurePartitions(db.write, ['events'], 3);
  expect(await monthsOf('events')).toEqual(before);
  expect(await rows()).toEqual(written);
  const [left] = await database.query('select count(*)::int as count from events_default');
  expect(left).toEqual({ count: 5 });
});

test('more than 10,000 such rows stay where they are, and later months are made', async () => {
  const before = await monthsOf('events');
  await dropLast('events', 2);
  await database.query(
    `insert into events (tenant_id, id, type, payload)
     select 1, uuid_v7(now() + interval '2 months', n), 'x', '{}' from generate_series(1, 10001) n`,
  );
  await ensurePartitions(db.write, ['events'], 3);
  expect(await monthsOf('events')).toEqual(before.toSpliced(-2, 1));
  const [left] = await database.query('select count(*)::int as count from events_default');
  expect(left).toEqual({ count: 10_001 });
});

/** What a partition has besides its rows. */
const shapeOf = async (partition: string) => {
  const [shape] = await database.query(
    `select c.reloptions,
       array(select indisprimary || replace(pg_get_indexdef(indexrelid), indexrelid::regclass::text, '')
             from pg_index where indrelid = c.oid order by indexrelid) as indexes,
       array(select pg_get_constraintdef(oid) from pg_constraint where conrelid = c.oid order by 1) as constraints,
       array(select t.tgname || pg_get_triggerdef(t.oid) from pg_trigger t where t.tgrelid = c.oid and not t.tgisinternal order by 1) as triggers
     from pg_class c where c.oid = $1::regclass`,
    [partition],
  );
  return JSON.parse(JSON.stringify(shape).replaceAll(partition, 'partition'));
};

test('a month that gets such rows has the indexes, in their order, the constraints and the triggers of the others', async () => {
  const gateway = await startGateway({
    env: { PARLEY_WEBHOOK_ALLOW_HTTP: 'true', PARLEY_WEBHOOK_ALLOWED_RANGES: '127.0.0.0/8' },
  });
  onTestFinished(() => gateway.stop());
  ({ database } = gateway);
  const { db: gatewayDb } = gateway.gateway.resources;
  // Nobody listens there: each attempt fails.
  dataOf(await gateway.mutate('createWebhookEndpoint', { url: 'http://127.0.0.1:9/', events: ['message.read'] }));
  const message = { to: { phone: newPhone() }, content: { text: { body: 'Hi' } } };
  const { databaseId } = payloadOf(await gateway.mutate('sendMessage', message, 'message { databaseId }')).message;
  await eventually(async () => {
    for (const table of TABLES) expect(await database.query(`select from ${table} limit 1`)).toHaveLength(1);
    expect(await database.query(`select from message_states where status = 'read'`)).toHaveLength(1);
  });
  const rows = () =>
    Promise.all(TABLES.map(table => database.query(`select to_jsonb(t) as row from ${table} t order by t::text`)));

  const current = new Date().toISOString().slice(0, 7).replace('-', '');
  for (const table of TABLES)
    await database.query(
      `begin; alter table ${table} detach partition ${table}_${current}; insert into ${table} select * from ${table}_${current}; drop table ${table}_${current}; commit`,
    );
  const before = await rows();
  await ensurePartitions(gatewayDb.write, TABLES, 3);
  expect(await rows()).toEqual(before);
  for (const table of TABLES) {
    expect(await database.query(`select from ${table}_default`)).toEqual([]);
    const [next] = (await monthsOf(table)).slice(-1);
    expect([table, await shapeOf(`${table}_${current}`)]).toEqual([table, await shapeOf(next as string)]);
  }
  await database.query('delete from messages where id = $1', [databaseId]);
  expect(await database.query('select from message_states')).toEqual([]);
});
