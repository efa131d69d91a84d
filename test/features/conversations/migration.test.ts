import { randomBytes } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import pg from 'pg';
import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { newIdAt } from '../../../src/core/ids.ts';

/** Conversations of before their state was stored get it from their messages. */

const name = `parley_test_${process.pid}_${randomBytes(4).toString('hex')}`;
const admin = new pg.Client({ connectionString: inject('serverUrl') });
let before: pg.Client;

const MIGRATION = readdirSync('migrations').find(file => /^\d+_conversations\.sql$/.test(file)) ?? '';
const textOf = (file: string): string => readFileSync(`migrations/${file}`, 'utf8');

beforeAll(async () => {
  await admin.connect();
  await admin.query(`create database ${name}`);
  const address = new URL(inject('serverUrl'));
  address.pathname = `/${name}`;
  before = new pg.Client({ connectionString: address.href });
  await before.connect();
  for (const file of readdirSync('migrations')
    .filter(one => one < MIGRATION)
    .sort())
    await before.query(textOf(file));
});
afterAll(async () => {
  await before.end();
  await admin.query(`drop database if exists ${name} with (force)`);
  await admin.end();
});

test('status, unread messages, waiting time, last message and assignee are taken from the messages', async () => {
  await before.query(`
    insert into tenants (tenant_id, slug, name, plan_id) select 1, 't', 'T', id from plans order by id limit 1;
    insert into staff (tenant_id, id, name, email) values (1, 7, 'Eva', 'eva@example.com');
    insert into contacts (tenant_id, id, phone, phone_key, assigned_id)
      values (1, 1, '+491511', '491511', 7), (1, 2, '+491512', '491512', null), (1, 3, '+491513', '491513', null);
    insert into channels (tenant_id, id, name, phone_number_id, waba_id, display_phone_number, access_token_sealed, app_secret_sealed, verify_token_hash)
      values (1, 1, 'c', '100', '200', '+1 555', '', '', '');
    insert into conversations (tenant_id, id, contact_id, channel_id, window_expires_at) values
      (1, 1, 1, 1, now() + interval '1 hour'), (1, 2, 2, 1, now() - interval '1 hour'), (1, 3, 3, 1, null);`);
  const start = Date.now() - 3_600_000;
  const messages: readonly [conversation: number, direction: string, type: string, isRead?: boolean][] = [
    [1, 'inbound', 'text'],
    [1, 'outbound', 'text'],
    [1, 'inbound', 'text', true],
    [1, 'inbound', 'text'],
    [1, 'inbound', 'image'],
    [1, 'inbound', 'reaction'],
    [2, 'inbound', 'text'],
  ];
  const ids: string[] = [];
  for (const [index, [conversation, direction, type, isRead]] of messages.entries()) {
    const id = newIdAt(start + index * 1_000);
    ids.push(id);
    await before.query(
      `insert into messages (tenant_id, id, conversation_id, contact_id, channel_id, direction, type, created_at)
       values (1, $1, $2, $2, 1, $3, $4, to_timestamp($5))`,
      [id, conversation, direction, type, start / 1_000 + index],
    );
    await before.query(
      'insert into message_states (tenant_id, message_id, status, updated_at, read_at) values (1, $1, $2, now(), case when $3 then now() end)',
      [id, direction === 'inbound' ? 'received' : 'sent', isRead ?? false],
    );
  }
  await before.query(`begin; ${textOf(MIGRATION)}; commit`);
  const { rows } = await before.query(
    'select id, status, unread_count, is_unread, waiting_since, last_message_id, last_activity_at, assignee_id from conversations order by id',
  );
  expect(rows).toMatchObject([
    {
      status: 'open',
      unread_count: 2,
      is_unread: true,
      waiting_since: new Date(start + 2_000),
      last_message_id: ids[4],
      last_activity_at: new Date(start + 5_000),
      assignee_id: '7',
    },
    { status: 'closed', unread_count: 0, waiting_since: null, last_message_id: ids[6], assignee_id: null },
    { status: 'closed', unread_count: 0, is_unread: false, waiting_since: null, last_message_id: null },
  ]);
});
