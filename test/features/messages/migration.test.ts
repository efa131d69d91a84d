import { randomBytes } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import pg from 'pg';
import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { newIdAt } from '../../../src/core/ids.ts';

/** Data of a database of before 0018 is carried over to the storage of messages. */

const name = `parley_test_${process.pid}_${randomBytes(4).toString('hex')}`;
const admin = new pg.Client({ connectionString: inject('serverUrl') });
let before: pg.Client;

const MIGRATION = '0018_message_storage.sql';
const earlier = readdirSync('migrations')
  .filter(file => file.endsWith('.sql') && file < MIGRATION)
  .sort();
const textOf = (file: string): string => readFileSync(`migrations/${file}`, 'utf8');

beforeAll(async () => {
  await admin.connect();
  await admin.query(`create database ${name}`);
  const address = new URL(inject('serverUrl'));
  address.pathname = `/${name}`;
  before = new pg.Client({ connectionString: address.href });
  await before.connect();
  for (const file of earlier) await before.query(textOf(file));
});
afterAll(async () => {
  await before.end();
  await admin.query(`drop database if exists ${name} with (force)`);
  await admin.end();
});

test('statuses, network ids, failures and the ordered queue are migrated', async () => {
  await before.query(`
    insert into tenants (tenant_id, slug, name, plan_id) select 1, 't', 'T', id from plans order by id limit 1;
    insert into contacts (tenant_id, id, phone, phone_key) values (1, 1, '+491511', '491511'), (1, 2, '+491512', '491512');
    insert into channels (tenant_id, id, name, phone_number_id, waba_id, display_phone_number, access_token_sealed, app_secret_sealed, verify_token_hash)
      values (1, 1, 'c', '100', '200', '+1 555', '', '', '');
    insert into conversations (tenant_id, id, contact_id, channel_id) values (1, 1, 1, 1), (1, 2, 2, 1);`);
  const rows = ['read', 'failed', 'queued', 'queued', 'queued', 'received'].map((status, index) => ({
    id: newIdAt(Date.parse('2026-01-15T10:00:00Z') + index),
    status,
    contact: index === 4 ? 2 : 1,
  }));
  for (const { id, status, contact } of rows) {
    await before.query(
      `insert into messages (tenant_id, id, conversation_id, contact_id, channel_id, direction, type, status, wamid, error, failed_at)
       values (1, $1::uuid, $3, $3, 1, case when $2 = 'received' then 'inbound' else 'outbound' end, 'text', $2,
         case when $2 <> 'queued' then 'wamid.' || $1::uuid end, case when $2 = 'failed' then '{"code": 131026}'::jsonb end, case when $2 = 'failed' then now() end)`,
      [id, status, contact],
    );
  }
  const [read, failed, first, second, third, received] = rows.map(({ id }) => id);
  await before.query(
    `insert into outbox (tenant_id, channel_id, message_id, contact_id, next_attempt_at)
     select 1, 1, id, contact_id, now() from messages where status = 'queued'`,
  );
  await before.query(`begin; ${textOf(MIGRATION)}; commit`);

  const all = async (text: string) => (await before.query(text)).rows;
  expect(
    await all('select message_id, status, wamid is null as unsent from message_states order by message_id'),
  ).toEqual(rows.map(({ id, status }) => ({ message_id: id, status, unsent: status === 'queued' })));
  expect(await all('select message_id, status from message_updates order by message_id')).toEqual(
    rows.map(({ id, status }) => ({ message_id: id, status })),
  );
  expect((await all('select message_id from message_wamids order by message_id')).map(row => row.message_id)).toEqual([
    read,
    failed,
    received,
  ]);
  expect(await all('select message_id, code from message_failures')).toEqual([{ message_id: failed, code: 131_026 }]);
  expect(
    await all('select status, sum(messages)::int as messages from message_statistics group by status order by status'),
  ).toEqual([
    { status: 'failed', messages: 1 },
    { status: 'read', messages: 1 },
    { status: 'received', messages: 1 },
  ]);
  expect(await all('select message_id, next_attempt_at is not null as has_turn from outbox order by position')).toEqual(
    [
      { message_id: first, has_turn: true },
      { message_id: second, has_turn: false },
      { message_id: third, has_turn: true },
    ],
  );
  const partitions = `select replace(relid::text, $$SOURCE$$, '') as month from pg_partition_tree($$SOURCE$$) where isleaf order by 1`;
  const messages = await all(partitions.replaceAll('SOURCE', 'messages'));
  expect(await all(partitions.replaceAll('SOURCE', 'message_states'))).toEqual(messages);
});
