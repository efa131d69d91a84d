import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { newIdAt } from '../../../src/core/ids.ts';
import type { Db } from '../../../src/database/database.ts';
import type { PublicConversation } from '../../../src/features/conversations/conversation.ts';
import { foldInbound } from '../../../src/features/conversations/fold.ts';
import { wakeSnoozed } from '../../../src/features/conversations/housekeeping.ts';
import { lockOrInsertConversations } from '../../../src/features/conversations/state.sql.ts';
import { insertOutbound, type NewMessage } from '../../../src/features/messages/send/accept.sql.ts';
import { dataOf } from '../../support/answers.ts';
import { eventually, startGateway, type TestGateway } from '../../support/gateway.ts';
import { sendAs } from '../../support/sending.ts';
import { type Harness, harnessFor } from '../messages/inbound/harness.ts';

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startGateway({ emulator: { faults: { userIds: false } } });
});
afterAll(() => gateway.stop());

const ANA = '14155550101';
const conversation = async (harness: Harness) => {
  const [row] = await harness.query<Record<string, unknown> & { id: string; last_message_id: string }>(
    'select * from conversations where tenant_id = $1 order by id limit 1',
  );
  if (!row) throw new Error('There is no conversation.');
  return row;
};
const set = (harness: Harness, assignments: string) =>
  harness.query(`update conversations set ${assignments} where tenant_id = $1 returning id`);
const changes = (harness: Harness, type: 'created' | 'updated') =>
  harness.events(`conversation.${type}`) as unknown as Promise<
    { readonly conversation: PublicConversation; readonly previous?: Record<string, unknown> }[]
  >;
const send = async (harness: Harness, input: object = { text: 'Hello' }) => {
  const answer = await sendAs(
    gateway,
    'text',
    { to: `+${ANA}`, ...input },
    'databaseId conversationId',
    harness.tenant.token,
  );
  return dataOf(answer).sendMessage.message;
};
const bot = async (harness: Harness) => {
  const document =
    'mutation ($input: CreateBotInput!) { createBot(input: $input) { bot { databaseId } userErrors { message } } }';
  const input = {
    name: 'Hours',
    trigger: 'CONTAINS',
    keywords: ['hours'],
    reply: { text: { text: 'From nine to five' } },
  };
  return dataOf(await gateway.graphql(document, { input }, harness.tenant.token)).createBot.bot;
};
/** Several messages of a person in one webhook. */
const writeTogether = (harness: Harness, texts: readonly string[], from = ANA) =>
  harness.tell('messages', {
    contacts: [{ wa_id: from }],
    messages: texts.map((body, index) => ({
      from,
      id: `wamid.${from}.${body}.${index}`,
      timestamp: String(Math.floor(Date.now() / 1_000)),
      type: 'text',
      text: { body },
    })),
  });

describe('inbound messages', () => {
  test('open a conversation, are unread, and wait for an answer; the event of the message carries the conversation', async () => {
    const harness = await harnessFor(gateway);
    await harness.write({ from: ANA, text: 'One' });
    await harness.write({ from: ANA, text: 'Two' });
    const messages = await harness.messages();
    expect(await conversation(harness)).toMatchObject({
      status: 'open',
      unread_count: 2,
      is_unread: true,
      last_message_id: messages[1]?.id,
      assignee_id: null,
    });
    const received = (await harness.events('message.received')) as unknown as { conversation: PublicConversation }[];
    expect(received.map(event => event.conversation)).toMatchObject([
      { unread_count: 1, last_message_id: messages[0]?.id, tag_ids: [] },
      { unread_count: 2, last_message_id: messages[1]?.id, waiting_since: received[0]?.conversation.waiting_since },
    ]);
    expect(await changes(harness, 'created')).toMatchObject([{ conversation: { unread_count: 1, status: 'open' } }]);
    expect(await changes(harness, 'updated')).toEqual([]);
  });

  test('that arrive together update their conversation once, and those that are delivered twice do not', async () => {
    const harness = await harnessFor(gateway);
    await writeTogether(harness, ['One']);
    const before = await conversation(harness);
    await writeTogether(harness, ['Two', 'Three', 'Four']);
    const after = await conversation(harness);
    expect(after['unread_count']).toBe(4);
    await writeTogether(harness, ['Two', 'Three', 'Four']);
    expect(await conversation(harness)).toEqual(after);
    expect(before['unread_count']).toBe(1);
  });

  test('reopen what is snoozed or closed, without an event besides that of the message', async () => {
    for (const state of ["status = 'closed'", "status = 'snoozed', snoozed_until = now() + interval '1 day'"]) {
      const harness = await harnessFor(gateway);
      await harness.write({ from: ANA, text: 'One' });
      await set(harness, state);
      await harness.write({ from: ANA, text: 'Two' });
      expect(await conversation(harness)).toMatchObject({ status: 'open', snoozed_until: null });
      expect(await changes(harness, 'updated')).toEqual([]);
    }
  });

  test('that are reactions are neither unread nor last, and reopen nothing', async () => {
    const harness = await harnessFor(gateway);
    const messageId = await harness.write({ from: ANA, text: 'One' });
    await set(harness, "status = 'closed', unread_count = 0");
    const before = await conversation(harness);
    await harness.write({ from: ANA, type: 'reaction', messageId, emoji: '👍' });
    expect(await conversation(harness)).toMatchObject({
      status: 'closed',
      unread_count: 0,
      last_message_id: before.last_message_id,
    });
  });

  test('give a new conversation the assignee of its contact', async () => {
    const harness = await harnessFor(gateway);
    const [staff] = await harness.query<{ id: string }>(
      "insert into staff (tenant_id, name, email) values ($1, 'Eva', 'eva@example.com') returning id",
    );
    const document =
      'mutation ($input: CreateContactInput!) { createContact(input: $input) { contact { databaseId } } }';
    dataOf(
      await gateway.graphql(
        document,
        { input: { phone: `+${ANA}`, assigneeId: String(staff?.id) } },
        harness.tenant.token,
      ),
    );
    await harness.write({ from: ANA, text: 'One' });
    expect(await conversation(harness)).toMatchObject({ assignee_id: staff?.id });
    expect(await changes(harness, 'created')).toMatchObject([{ conversation: { assignee_id: Number(staff?.id) } }]);
  });
});

describe('sends', () => {
  test('answer what waits, and leave unread what nobody has read', async () => {
    const harness = await harnessFor(gateway);
    await harness.write({ from: ANA, text: 'One' });
    const { databaseId } = await send(harness);
    expect(await conversation(harness)).toMatchObject({
      waiting_since: null,
      unread_count: 1,
      last_message_id: databaseId,
    });
  });

  test('create an open conversation, with its event before that of the message', async () => {
    const harness = await harnessFor(gateway);
    const { databaseId } = await send(harness);
    expect(await conversation(harness)).toMatchObject({ status: 'open', last_message_id: databaseId, unread_count: 0 });
    const created = await changes(harness, 'created');
    expect(created).toMatchObject([{ conversation: { last_message_id: databaseId, status: 'open', tag_ids: [] } }]);
    const types = await harness.query<{ type: string }>(
      "select type from events where tenant_id = $1 and type in ('contact.created', 'conversation.created', 'message.queued') order by xid, seq",
    );
    expect(types.map(row => row.type)).toEqual(['contact.created', 'conversation.created', 'message.queued']);
    await send(harness);
    expect(await changes(harness, 'created')).toHaveLength(1);
  });

  test('from the phone app show that the conversation has been read there', async () => {
    const harness = await harnessFor(gateway);
    await harness.write({ from: ANA, text: 'One' });
    await harness.tell('smb_message_echoes', {
      message_echoes: [
        {
          from: '15550780000',
          to: ANA,
          id: 'wamid.echo',
          timestamp: String(Math.floor(Date.now() / 1_000)),
          type: 'text',
          text: { body: 'From my phone' },
        },
      ],
    });
    expect(await conversation(harness)).toMatchObject({ unread_count: 0, waiting_since: null, status: 'open' });
    expect(await changes(harness, 'updated')).toMatchObject([
      { conversation: { unread_count: 0 }, previous: { unread_count: 1 } },
    ]);
  });
});

describe('bots', () => {
  test('have what they answered until a message that they do not answer', async () => {
    const harness = await harnessFor(gateway);
    await bot(harness);
    await harness.write({ from: ANA, text: 'What are your hours?' });
    await eventually(async () => expect(await conversation(harness)).toMatchObject({ status: 'pending' }));
    await eventually(async () => expect(await conversation(harness)).toMatchObject({ waiting_since: null }));
    await harness.write({ from: ANA, text: 'I want a person' });
    await eventually(async () => expect(await conversation(harness)).toMatchObject({ status: 'open' }));
    expect(await changes(harness, 'updated')).toMatchObject([
      { conversation: { status: 'pending' }, previous: { status: 'open' } },
      { conversation: { status: 'open' }, previous: { status: 'pending' } },
    ]);
  });

  test('lose what a person answers, with one event', async () => {
    const harness = await harnessFor(gateway);
    await harness.write({ from: ANA, text: 'Hello' });
    await set(harness, "status = 'pending'");
    await send(harness);
    expect(await conversation(harness)).toMatchObject({ status: 'open' });
    expect(await changes(harness, 'updated')).toMatchObject([
      { conversation: { status: 'open', tag_ids: [] }, previous: { status: 'pending' } },
    ]);
  });

  test('that are no more leave the next message to people', async () => {
    const harness = await harnessFor(gateway);
    await harness.write({ from: ANA, text: 'Hello' });
    await set(harness, "status = 'pending'");
    await harness.write({ from: ANA, text: 'Anybody?' });
    expect(await conversation(harness)).toMatchObject({ status: 'open' });
  });
});

test('a snoozed conversation wakes when its time has come, with an event, and not before', async () => {
  const harness = await harnessFor(gateway);
  await harness.write({ from: ANA, text: 'One' });
  await set(harness, "status = 'snoozed', snoozed_until = now() + interval '1 hour'");
  await wakeSnoozed(gateway.gateway.resources);
  expect(await conversation(harness)).toMatchObject({ status: 'snoozed' });
  await set(harness, "snoozed_until = now() - interval '1 second'");
  await eventually(async () => {
    await wakeSnoozed(gateway.gateway.resources);
    expect(await conversation(harness)).toMatchObject({ status: 'open', snoozed_until: null });
  });
  expect(await changes(harness, 'updated')).toMatchObject([
    { conversation: { status: 'open' }, previous: { status: 'snoozed' } },
  ]);
});

test('the messages of a webhook, and each send, cost one HOT update within ten minutes of activity', async () => {
  const harness = await harnessFor(gateway);
  await harness.write({ from: ANA, text: 'First' });
  const row = await conversation(harness);
  const thread = {
    channelId: Number(row['channel_id']),
    contactId: Number(row['contact_id']),
    status: 'open' as const,
  };
  const now = String(row['activity_slot']);
  const nowMs = new Date(now).getTime();
  await set(harness, `last_activity_at = activity_slot, window_expires_at = activity_slot`);
  const { db } = gateway.gateway.resources;
  const ROUNDS = 5;
  const counted = await db.transaction(async trx => {
    // What the connection has not reported of earlier transactions is among them.
    const before = await updatesOf(trx);
    for (let round = 0; round < ROUNDS; round += 1) {
      const locked = await lockOrInsertConversations(trx, harness.tenant.id, [thread], MONTH);
      const messages = [1, 2, 3].map(second => ({
        id: newIdAt(nowMs + round * 10_000 + second),
        conversation_id: Number(row.id),
        type: 'text',
        sent_at: new Date(nowMs + round * 10_000 + second).toISOString(),
        created_at: new Date(nowMs).toISOString(),
        window_expires_at: new Date(nowMs + round).toISOString(),
        isAnswerable: true,
      }));
      await foldInbound(trx, harness.tenant.id, locked, messages, nowMs);
      const to = {
        contactId: thread.contactId,
        conversationId: Number(row.id),
        takesOver: false,
        mayBeOptedOut: false,
      };
      const message = outbound(thread.channelId, nowMs + round);
      await insertOutbound(trx, harness.tenant.id, MONTH, [{ message, to }], 'wait');
    }
    const after = await updatesOf(trx);
    return { total: after.total - before.total, hot: after.hot - before.hot };
  });
  expect(counted).toEqual({ total: ROUNDS * 2, hot: ROUNDS * 2 });
  // The first unread message of a conversation that had been read is in another index from then on.
  expect(await conversation(harness)).toMatchObject({ unread_count: 1 + ROUNDS * 3, waiting_since: null });
});

/** Updates of conversations in this transaction. */
async function updatesOf(trx: Db): Promise<{ readonly total: number; readonly hot: number }> {
  const { rows } = await sql<{ total: number; hot: number }>`
    select n_tup_upd::int as total, n_tup_hot_upd::int as hot from pg_stat_xact_user_tables where relname = 'conversations'`.execute(
    trx,
  );
  return rows[0] ?? { total: 0, hot: 0 };
}

const MONTH = `${new Date().toISOString().slice(0, 7)}-01`;
const outbound = (channelId: number, atMs: number): NewMessage => ({
  id: newIdAt(atMs),
  channelId,
  type: 'text',
  priority: 1,
  templateId: null,
  body: 'Hello',
  content: {},
  sealed: null,
  replyToWamid: null,
  author: { kind: 'token', id: 1, name: 'test' },
  echoId: null,
  retryOf: null,
  scheduledAt: null,
  isWindowRequired: false,
  createdAt: new Date(atMs).toISOString(),
  isAnswer: true,
  conversationStatus: 'open',
  eventId: newIdAt(atMs),
  conversationEventId: newIdAt(atMs),
  idempotency: undefined,
});
