import { afterAll, beforeAll, expect, test } from 'vitest';
import { newId } from '../../../src/core/ids.ts';
import { listStatement } from '../../../src/database/list.ts';
import {
  findInboundAfter,
  lockConversations,
  lockForBots,
  unassignSome,
  wakeDue,
  writeStates,
  writeTags,
} from '../../../src/features/conversations/change.sql.ts';
import type { PublicConversation } from '../../../src/features/conversations/conversation.ts';
import { type ConversationCounts, countConversations } from '../../../src/features/conversations/counts.sql.ts';
import {
  ensureGroupChats,
  getParticipants,
  insertMemberships,
} from '../../../src/features/conversations/group-chats.sql.ts';
import { CONVERSATIONS } from '../../../src/features/conversations/list.ts';
import { type PublicOwnership, reclaimThreads, writeOwners } from '../../../src/features/conversations/owners.sql.ts';
import { listConversations } from '../../../src/features/conversations/page.sql.ts';
import {
  applyFolds,
  conversationsOf,
  currentIds,
  deleteConversationsOf,
  findPhoneAnswers,
  findUnanswered,
  getConversations,
  type LockedConversation,
  lockOrInsertConversations,
  resolveConversation,
} from '../../../src/features/conversations/state.sql.ts';
import { countMatching, lockMatching } from '../../../src/features/conversations/update-many.sql.ts';
import { getLastOfGroupChats } from '../../../src/features/messages/thread.sql.ts';
import type { Selection } from '../../../src/schema/selection.ts';
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

const TIME = 'timestamp with time zone';
const CONVERSATION = {
  id: 'bigint',
  contact_id: 'bigint',
  channel_id: 'bigint',
  status: 'text',
  snoozed_until: TIME,
  assignee_id: 'bigint',
  unread_count: 'integer',
  waiting_since: TIME,
  window_expires_at: TIME,
  last_message_id: 'uuid',
  last_activity_at: TIME,
  created_at: TIME,
  updated_at: TIME,
  tag_ids: 'double precision[]',
} as const satisfies ColumnsOf<PublicConversation>;

test('conversations are described as their row type says', async () => {
  expect(await describeColumns(database.url, db => getConversations(db, 1, [1]))).toEqual(CONVERSATION);
  expect(await describeColumns(database.url, db => conversationsOf(db, 1, [1]))).toEqual(CONVERSATION);
  expect(await describeColumns(database.url, db => resolveConversation(db, 1, 1))).toEqual(CONVERSATION);
  expect(await describeColumns(database.url, db => applyFolds(db, 1, [], AT))).toEqual(CONVERSATION);
  expect(await describeColumns(database.url, db => findUnanswered(db, 1, [{ id: 1, answerId: newId() }]))).toEqual({
    id: 'bigint',
    unread: 'double precision',
    waiting_since: TIME,
  });
  const message = { id: newId(), conversation_id: 1 };
  expect(await describeColumns(database.url, db => findPhoneAnswers(db, 1, [message]))).toEqual({
    id: 'bigint',
    answer_id: 'uuid',
  });
  expect(await describeColumns(database.url, db => currentIds(db, 1, [1]))).toEqual({ id: 'bigint' });
  expect(await describeColumns(database.url, db => lockConversations(db, 1, [1]))).toEqual(CONVERSATION);
  expect(await describeColumns(database.url, db => writeStates(db, 1, [], AT))).toEqual(CONVERSATION);
  expect(await describeColumns(database.url, db => deleteConversationsOf(db, 1, [1]))).toEqual(CONVERSATION);
  expect(await describeColumns(database.url, db => unassignSome(db, 1, 1, 1))).toEqual(CONVERSATION);
  const messageId = '0192f0c0-0000-7000-8000-000000000000';
  expect(await describeColumns(database.url, db => findInboundAfter(db, 1, 1, messageId))).toEqual({
    later_id: 'uuid',
  });
  expect(await describeColumns(database.url, db => wakeDue(db, 1))).toEqual({
    ...CONVERSATION,
    tenant_id: 'bigint',
    snoozed_before: TIME,
  });
  const decision = { contactId: 1, channelId: 1, isAnswered: true };
  expect(await describeColumns(database.url, db => lockForBots(db, 1, [decision]))).toEqual({
    ...CONVERSATION,
    is_answered: 'boolean',
  });
  expect(
    await describeColumns(database.url, db => writeTags(db, 1, [1], { added: [1], removed: [2] })),
  ).toBeUndefined();
  const threads = [{ channelId: 1, contactId: 1, status: 'open' as const }];
  expect(await describeColumns(database.url, db => lockOrInsertConversations(db, 1, threads, '2026-11-01'))).toEqual({
    ...CONVERSATION,
    is_new: 'boolean',
    is_with_bot: 'boolean',
    is_counted: 'boolean',
  } satisfies ColumnsOf<LockedConversation>);
});

test('a page of conversations is one row of JSON, with related rows beside it', async () => {
  const below: Selection = new Map([['name', new Map()]]);
  const statement = listStatement(CONVERSATIONS, 1, {});
  for (const fields of [[], ['status'], ['status', 'tags']])
    for (const withCursors of [true, false]) {
      const selection = new Map(['contact', 'assignee', 'lastMessage', 'tags', ...fields].map(field => [field, below]));
      expect(
        await describeColumns(database.url, db => listConversations(db, statement, selection, withCursors)),
      ).toEqual({ page: 'json', contact: 'json', assignee: 'json', last_message: 'json', tags: 'json' });
    }
});

test('counts of conversations are described as their row type says', async () => {
  const statement = listStatement(CONVERSATIONS, 1, {});
  expect(
    await describeColumns(database.url, db =>
      countConversations(db, statement, 1, { closed: true, unreadMessages: true }),
    ),
  ).toEqual({
    open: 'integer',
    pending: 'integer',
    snoozed: 'integer',
    closed: 'integer',
    unassigned: 'integer',
    mine: 'integer',
    unread_conversations: 'integer',
    unread_messages: 'integer',
  } satisfies ColumnsOf<ConversationCounts>);
});

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

test('participants and last messages of group chats are described as their row types say', async () => {
  expect(await describeColumns(database.url, db => getParticipants(db, 1, [1]))).toEqual({
    group_chat_id: 'bigint',
    contact_id: 'bigint',
  });
  expect(await describeColumns(database.url, db => getLastOfGroupChats(db, 1, [1]))).toEqual({
    group_chat_id: 'bigint',
    message_id: 'uuid',
    created_at: 'timestamp with time zone',
  });
});

test('the insertion of participants is understood by the database', async () => {
  const membership = { group_chat_id: 1, contact_id: 1, is_member: true, told_at: AT };
  expect(await describeColumns(database.url, db => insertMemberships(db, 1, [membership]))).toBeUndefined();
});

test('the conversations that a job matches are described by their count and ids', async () => {
  const filter = { status: { eq: 'open' } };
  expect(await describeColumns(database.url, db => countMatching(db, 1, filter))).toEqual({ count: 'bigint' });
  const range = { afterId: 0, maxId: 9, limit: 1 };
  expect(await describeColumns(database.url, db => lockMatching(db, 1, filter, range))).toEqual({ id: 'bigint' });
});
