import { afterAll, beforeAll, expect, test } from 'vitest';
import { ensureGroupChats, insertMemberships } from '../../../src/features/conversations/group-chats.sql.ts';
import { type PublicOwnership, reclaimThreads, writeOwners } from '../../../src/features/conversations/owners.sql.ts';
import { createTestDatabase, type TestDatabase } from '../../support/database.ts';
import { type ColumnsOf, describeColumns } from '../../support/describe-statement.ts';

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.drop());

const AT = '2026-11-22T00:00:00.000Z';
const OWNERSHIP = {
  id: 'bigint',
  contact_id: 'bigint',
  channel_id: 'bigint',
  is_ours: 'boolean',
  owner_role: 'text',
  previous_role: 'text',
  owned_since: 'timestamp with time zone',
} satisfies ColumnsOf<PublicOwnership>;

test('written owners are described as their row type says', async () => {
  const owner = { channel_id: 1, contact_id: 1, is_ours: true, owner_role: null, previous_role: null, summary: null };
  expect(await describeColumns(database.url, db => writeOwners(db, 1, [{ ...owner, changed_at: AT }]))).toEqual(
    OWNERSHIP,
  );
});

test('reclaimed threads are described as their row type says', async () => {
  const written = [{ conversationId: 1, at: AT }];
  expect(await describeColumns(database.url, db => reclaimThreads(db, 1, written))).toEqual(OWNERSHIP);
});

test('group chats are described by their id and names', async () => {
  expect(
    await describeColumns(database.url, db => ensureGroupChats(db, 1, [{ channelId: 1, networkId: 'a' }])),
  ).toEqual({ id: 'bigint', channel_id: 'bigint', network_id: 'text' });
});

test('the insertion of participants is understood by the database', async () => {
  const membership = { group_chat_id: 1, contact_id: 1, is_member: true, told_at: AT };
  expect(await describeColumns(database.url, db => insertMemberships(db, 1, [membership]))).toBeUndefined();
});
