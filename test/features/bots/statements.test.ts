import { afterAll, beforeAll, expect, test } from 'vitest';
import {
  type ContactStateRow,
  connectedNumbers,
  haveWritten,
  readContactStates,
} from '../../../src/features/bots/engine/contact-state.sql.ts';
import { listPast, type PastMessage } from '../../../src/features/bots/history/history.sql.ts';
import {
  areAnyLeftToBots,
  clearQueue,
  findOptIns,
  listQueued,
  type QueuedMessage,
  queueReceived,
} from '../../../src/features/bots/reply/inbox.sql.ts';
import {
  claimReplies,
  deleteSettled,
  insertReplies,
  type PendingReply,
  type SettledReply,
  settleReplies,
  writeOutcomes,
} from '../../../src/features/bots/reply/replies.sql.ts';
import { createTestDatabase, type TestDatabase } from '../../support/database.ts';
import { type ColumnsOf, describeColumns } from '../../support/describe-statement.ts';

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.drop());

const NOW = '2026-11-22T12:00:00.000Z';

test.each([true, false])('queued messages are described as their row type says (first messages: %s)', async isFirst => {
  expect(await describeColumns(database.url, db => listQueued(db, 1, 10, isFirst))).toEqual({
    message_id: 'uuid',
    event_id: 'uuid',
    contact_id: 'bigint',
    channel_id: 'bigint',
    type: 'text',
    body: 'text',
    content: 'jsonb',
    wamid: 'text',
    age_ms: 'double precision',
    is_first: 'boolean',
    phone: 'text',
    phone_key: 'text',
    wa_id: 'text',
  } satisfies ColumnsOf<QueuedMessage>);
});

test('whether the log has messages left to bots is described as one value', async () => {
  const after = { xid: 0n, seq: 0 };
  expect(await describeColumns(database.url, db => areAnyLeftToBots(db, after))).toEqual({ any: 'boolean' });
});

test('the conversations of a cleared queue are described by their keys', async () => {
  expect(await describeColumns(database.url, db => clearQueue(db, 1))).toEqual({
    contact_id: 'bigint',
    channel_id: 'bigint',
  });
});

test.each([
  [true, 60, '0192f0c0-0000-7000-8000-000000000000'],
  [false, 0, undefined],
] as const)(
  'past messages are described as their row type says (first: %s, hand-over: %s)',
  async (isFirst, minutes, after) => {
    const needs = { askWhetherFirst: isFirst, handOverMinutes: minutes };
    expect(
      await describeColumns(database.url, db => listPast(db, 1, { since: NOW, after }, ['text'], needs, 10)),
    ).toEqual({
      id: 'uuid',
      contact_id: 'bigint',
      type: 'text',
      body: 'text',
      content: 'jsonb',
      at_ms: 'double precision',
      is_first: 'boolean',
      person_at: 'timestamp with time zone',
      is_opted_out: 'boolean',
      phone: 'text',
      phone_key: 'text',
      wa_id: 'text',
    } satisfies ColumnsOf<PastMessage>);
  },
);

test.each([0, 60])('states are described as their row type says (hand-over: %s minutes)', async minutes => {
  const bots = [{ id: 1, hand_over_minutes: minutes }];
  expect(await describeColumns(database.url, db => readContactStates(db, 1, [1], bots))).toEqual({
    now_ms: 'double precision',
    contact_id: 'bigint',
    replied_at: 'json',
    last_by_bot: 'json',
    person_at: 'timestamp with time zone',
    enabled_bots: 'json',
  } satisfies ColumnsOf<ContactStateRow>);
});

test('claimed replies are described as their row type says', async () => {
  expect(await describeColumns(database.url, db => claimReplies(db, 1, 10, 1_000))).toEqual({
    message_id: 'uuid',
    bot_id: 'bigint',
    reply_message_id: 'uuid',
    contact_id: 'bigint',
    channel_id: 'bigint',
    rule: 'jsonb',
    bot: 'jsonb',
    attempts: 'integer',
    wamid: 'text',
    wanted_for_ms: 'double precision',
    is_enabled: 'boolean',
  } satisfies ColumnsOf<PendingReply>);
});

test('settled replies are described as their row type says', async () => {
  expect(await describeColumns(database.url, db => settleReplies(db, 1, []))).toEqual({
    message_id: 'uuid',
    bot_id: 'bigint',
    state: 'text',
  } satisfies ColumnsOf<SettledReply>);
});

test('statements without rows are accepted by the database', async () => {
  expect(await describeColumns(database.url, db => insertReplies(db, 1, [], 1_000))).toBeUndefined();
  expect(await describeColumns(database.url, db => writeOutcomes(db, 1, [], NOW))).toBeUndefined();
  expect(await describeColumns(database.url, db => deleteSettled(db, NOW, 10))).toBeUndefined();
});

test('tenants, contacts, messages and numbers are described by one column each', async () => {
  const start = { xid: 0n, seq: 0 };
  expect(await describeColumns(database.url, db => queueReceived(db, { after: start, until: start }))).toEqual({
    tenant_id: 'bigint',
  });
  expect(await describeColumns(database.url, db => findOptIns(db, 1, []))).toEqual({ message_id: 'uuid' });
  expect(await describeColumns(database.url, db => haveWritten(db, 1, [1]))).toEqual({ id: 'bigint' });
  const person = { phone: '+491511234567', phone_key: null, wa_id: null };
  expect(await describeColumns(database.url, db => connectedNumbers(db, [person]))).toEqual({ digits: 'text' });
});
