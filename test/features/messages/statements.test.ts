import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Edit, getEdits, getReactions, type Reaction } from '../../../src/features/messages/additions.sql.ts';
import type { FileLocation } from '../../../src/features/messages/content/media/file.ts';
import {
  blankFilenames,
  deleteExpired,
  findFile,
  forgetUnshownUploads,
} from '../../../src/features/messages/content/media/files.sql.ts';
import { deleteQueuedOf, deleteSomeMessagesOf } from '../../../src/features/messages/erase.sql.ts';
import {
  type Author,
  getAuthors,
  insertCorrections,
  lockCorrections,
  type PendingCorrection,
  setApplied,
  writeCorrected,
} from '../../../src/features/messages/inbound/corrections.sql.ts';
import {
  type CallRow,
  fillPlaceholders,
  insertExternalMessages,
  lockCalls,
  writeCalls,
} from '../../../src/features/messages/inbound/external-messages.sql.ts';
import { insertDetails, insertInbound, setRead } from '../../../src/features/messages/inbound/inbound.sql.ts';
import { insertReactions, type ReactionRow } from '../../../src/features/messages/inbound/reactions.sql.ts';
import type { PublicMessage } from '../../../src/features/messages/message.ts';
import { deleteOldMessages, getMessages, getMessagesByWamid } from '../../../src/features/messages/messages.sql.ts';
import { getPrices, writePrices } from '../../../src/features/messages/pricing/pricing.sql.ts';
import type { PriceRow } from '../../../src/features/messages/pricing/pricing.ts';
import { type Addressee, insertOutbound, type NewMessage } from '../../../src/features/messages/send/accept.sql.ts';
import { findAnswerAfter } from '../../../src/features/messages/send/expected-last.sql.ts';
import {
  findIdsByWamid,
  type KnownWamid,
  lockOutbound,
  lockWithRecipients,
  writeStates,
} from '../../../src/features/messages/statuses/states.sql.ts';
import { readThread } from '../../../src/features/messages/thread.sql.ts';
import { createTestDatabase, type TestDatabase } from '../../support/database.ts';
import { type ColumnsOf, describeColumns, describeStatements } from '../../support/describe-statement.ts';

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.drop());

const ID = randomUUID();
const NOW = new Date().toISOString();
const MESSAGE = {
  id: 'uuid',
  conversation_id: 'bigint',
  contact_id: 'bigint',
  channel_id: 'bigint',
  direction: 'text',
  type: 'text',
  body: 'text',
  content: 'jsonb',
  status: 'text',
  error: 'jsonb',
  wamid: 'text',
  reply_to_wamid: 'text',
  sent_at: 'timestamp with time zone',
  delivered_at: 'timestamp with time zone',
  read_at: 'timestamp with time zone',
  failed_at: 'timestamp with time zone',
  created_at: 'timestamp with time zone',
  updated_at: 'timestamp with time zone',
  author: 'jsonb',
  template_id: 'bigint',
  echo_id: 'text',
  retry_of: 'uuid',
} as const satisfies ColumnsOf<PublicMessage>;

test('message rows match their declared type', async () => {
  expect(await describeColumns(database.url, db => getMessages(db, 1, [ID]))).toEqual({
    ...MESSAGE,
    window_expires_at: 'timestamp with time zone',
  });
  expect(await describeColumns(database.url, db => getMessagesByWamid(db, 1, ['wamid.1']))).toEqual(MESSAGE);
  expect(await describeColumns(database.url, db => insertInbound(db, 1, []))).toEqual(MESSAGE);
  expect(await describeColumns(database.url, db => insertExternalMessages(db, 1, []))).toEqual(MESSAGE);
  expect(await describeColumns(database.url, db => deleteOldMessages(db, 1, NOW, 1))).toBeUndefined();
});

const SENT: NewMessage = {
  id: null,
  channelId: 1,
  type: 'text',
  priority: 2,
  templateId: null,
  body: 'Hi',
  content: {},
  sealed: null,
  replyToWamid: null,
  author: { kind: 'token', id: 1, name: 'test' },
  echoId: null,
  retryOf: null,
  scheduledAt: null,
  isWindowRequired: false,
  createdAt: NOW,
  isAnswer: true,
  conversationStatus: 'open',
  eventId: ID,
  conversationEventId: ID,
  idempotency: { storedKey: 'a', operation: 'send', fingerprint: Buffer.alloc(32) },
};

test.each<[string, Addressee]>([
  ['a new contact', { fields: { phone: '+491511234567' }, groupIds: [1], eventId: ID }],
  ['a contact', { contactId: 1, conversationId: null, takesOver: false, mayBeOptedOut: false }],
  ['a conversation', { contactId: 1, conversationId: 1, takesOver: false, mayBeOptedOut: true }],
  ['a counted conversation', { contactId: 1, conversationId: 1, takesOver: false, mayBeOptedOut: false }],
  ['a conversation that a bot has', { contactId: 1, conversationId: 1, takesOver: true, mayBeOptedOut: false }],
])('a message accepted for %s is described as its row type says', async (_name, addressee) => {
  for (const locked of ['wait', 'skip'] as const)
    expect(
      await describeColumns(database.url, db =>
        insertOutbound(db, 1, '2026-11-01', [{ message: SENT, to: addressee }], locked),
      ),
    ).toEqual({ ...MESSAGE, place: 'integer', window_expires_at: 'timestamp with time zone' });
});

test('message state rows match their declared types', async () => {
  const ref = { tenantId: 1, messageId: ID };
  expect(await describeColumns(database.url, db => findIdsByWamid(db, 1, ['wamid.1']))).toEqual({
    channel_id: 'bigint',
    wamid: 'text',
    message_id: 'uuid',
  } satisfies ColumnsOf<KnownWamid>);
  for (const locked of ['wait', 'contacts_first'] as const) {
    const columns = { tenant_id: 'bigint', ...MESSAGE, contact: 'jsonb' };
    expect(await describeColumns(database.url, db => lockOutbound(db, [ref], locked))).toEqual(columns);
    expect(await describeColumns(database.url, db => lockWithRecipients(db, [ref], locked))).toEqual({
      ...columns,
      recipient: 'json',
    });
  }
  expect(await describeColumns(database.url, db => writeStates(db, []))).toBeDefined();
  expect(await describeColumns(database.url, db => setRead(db, 1, ID, NOW))).toBeDefined();
});

test('messages of a thread match their declared type', async () => {
  const range = { after: null, ahead: 1, before: ID, back: 1, isInclusive: true };
  const thread = { column: 'conversation_id' as const, id: 1 };
  expect(await describeColumns(database.url, db => readThread(db, 1, thread, range))).toEqual({
    ...MESSAGE,
    has_next: 'boolean',
    has_previous: 'boolean',
  });
});

test('rows of corrections, calls and reactions match their declared types', async () => {
  const original = { channelId: 1, wamid: 'wamid.1' };
  expect(await describeColumns(database.url, db => insertCorrections(db, 1, []))).toBeUndefined();
  expect(await describeColumns(database.url, db => lockCorrections(db, 1, [original]))).toEqual({
    channel_id: 'bigint',
    wamid: 'text',
    original_wamid: 'text',
    kind: 'text',
    direction: 'text',
    contact_id: 'bigint',
    occurred_at: 'timestamp with time zone',
    body: 'text',
    content: 'jsonb',
    message_id: 'uuid',
    message_type: 'text',
    message_body: 'text',
    message_content: 'jsonb',
    edited_at: 'timestamp with time zone',
    revoked_at: 'timestamp with time zone',
  } satisfies ColumnsOf<PendingCorrection>);
  expect(await describeColumns(database.url, db => getAuthors(db, 1, [original]))).toEqual({
    channel_id: 'bigint',
    wamid: 'text',
    direction: 'text',
    contact_id: 'bigint',
  } satisfies ColumnsOf<Author>);
  expect(await describeColumns(database.url, db => writeCorrected(db, 1, []))).toBeUndefined();
  expect(await describeColumns(database.url, db => setApplied(db, 1, []))).toBeUndefined();
  expect(await describeColumns(database.url, db => lockCalls(db, 1, [{ channelId: 1, callId: 'wacid.1' }]))).toEqual({
    message_id: 'uuid',
    wamid: 'text',
    channel_id: 'bigint',
    content: 'jsonb',
  } satisfies ColumnsOf<CallRow>);
  expect(await describeColumns(database.url, db => writeCalls(db, 1, []))).toBeUndefined();
  expect(await describeColumns(database.url, db => insertReactions(db, 1, []))).toEqual({
    channel_id: 'bigint',
    original_wamid: 'text',
    contact_id: 'bigint',
    direction: 'text',
    emoji: 'text',
    wamid: 'text',
    occurred_at: 'timestamp with time zone',
    message_id: 'uuid',
  } satisfies ColumnsOf<ReactionRow & { message_id: string }>);
});

test('details, prices and placeholders are valid statements', async () => {
  expect(await describeColumns(database.url, db => insertDetails(db, 1, new Map([[ID, {}]])))).toBeUndefined();
  expect(await describeColumns(database.url, db => writePrices(db, 1, [], NOW))).toBeDefined();
  expect(await describeColumns(database.url, db => getPrices(db, 1, [ID]))).toEqual({
    message_id: 'uuid',
    channel_id: 'bigint',
    campaign_id: 'bigint',
    category: 'text',
    type: 'text',
    is_billable: 'boolean',
    country: 'text',
    occurred_at: 'timestamp with time zone',
  } satisfies ColumnsOf<PriceRow>);
  expect(await describeColumns(database.url, db => fillPlaceholders(db, 1, []))).toEqual({
    id: 'uuid',
    channel_id: 'bigint',
    type: 'text',
    content: 'jsonb',
  });
});

test('rows of files and erased messages match their declared types', async () => {
  expect(await describeColumns(database.url, db => findFile(db, 1, ID))).toEqual({
    channel_id: 'bigint',
    network_media_id: 'text',
    mime_type: 'text',
    filename: 'text',
    size: 'bigint',
    sha256: 'text',
    storage_key: 'text',
  } satisfies ColumnsOf<FileLocation>);
  expect(await describeColumns(database.url, db => deleteExpired(db, 1))).toEqual({ count: 'bigint' });
  expect(await describeColumns(database.url, db => forgetUnshownUploads(db, 1, ['1']))).toEqual({ id: 'uuid' });
  expect(await describeColumns(database.url, db => blankFilenames(db, 1, ['1'], ['Ann']))).toBeUndefined();
  const [, deleted] = await describeStatements(database.url, db => deleteQueuedOf(db, 1, [1]));
  expect(deleted?.columns).toEqual({ contact_id: 'bigint', in_flight: 'boolean' });
  expect(await describeColumns(database.url, db => deleteSomeMessagesOf(db, 1, [1], 1))).toEqual({
    contact_id: 'bigint',
    media: 'text[]',
  } satisfies ColumnsOf<{ contact_id: number; media: readonly string[] }>);
});

test('additions of messages match their declared types', async () => {
  const keys = [{ channelId: 1, wamid: 'wamid.1' }];
  expect(await describeColumns(database.url, db => getReactions(db, 1, keys))).toEqual({
    channel_id: 'bigint',
    original_wamid: 'text',
    contact_id: 'bigint',
    direction: 'text',
    emoji: 'text',
    occurred_at: 'timestamp with time zone',
  } satisfies ColumnsOf<Reaction>);
  expect(await describeColumns(database.url, db => getEdits(db, 1, keys))).toEqual({
    channel_id: 'bigint',
    original_wamid: 'text',
    text: 'text',
    occurred_at: 'timestamp with time zone',
  } satisfies ColumnsOf<Edit>);
});

test('the answer after a message is described by its id', async () => {
  const author = { kind: 'staff', id: 1 } as const;
  expect(await describeColumns(database.url, db => findAnswerAfter(db, 1, 1, ID, author))).toEqual({ id: 'uuid' });
});
