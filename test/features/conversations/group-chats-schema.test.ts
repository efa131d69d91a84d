import { afterAll, beforeAll, expect, test } from 'vitest';
import { codeOf, dataOf } from '../../support/answers.ts';
import { eventually, startGateway, type TestGateway } from '../../support/gateway.ts';
import { type Harness, harnessFor } from '../messages/inbound/harness.ts';

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startGateway({ emulator: { faults: { userIds: false } } });
});
afterAll(() => gateway.stop());

const ANA = '14155550101';
const BO = '14155550102';
const ask = async (harness: Harness, query: string, variables = {}) =>
  dataOf(await gateway.graphql(query, variables, harness.tenant.token));
const LIST = `query ($filter: GroupChatFilter $orderBy: [GroupChatOrder!] $search: String) {
  groupChats(filter: $filter orderBy: $orderBy search: $search) { totalCount nodes { id databaseId subject channel { phoneNumberId }
    participants { phone } lastMessage { text } lastActivityAt messages(last: 10) { nodes { text } } } } }`;
const named = (id: string, subject: string) => ({
  groups: [{ timestamp: String(Math.floor(Date.now() / 1_000)), group_id: id, type: 'group_create', subject }],
});

test('group chats show subject, participants and messages, and are threads', async () => {
  const harness = await harnessFor(gateway);
  await harness.tell('group_lifecycle_update', named('G1', 'Tour on Friday'));
  await harness.write({ from: ANA, text: 'Hello all', groupId: 'G1' });
  await harness.write({ from: BO, text: 'Hi Ana', groupId: 'G1' });
  const { groupChats } = await ask(harness, LIST);
  expect(groupChats).toMatchObject({
    totalCount: 1,
    nodes: [
      {
        subject: 'Tour on Friday',
        channel: { phoneNumberId: harness.tenant.phoneNumberId },
        participants: [{ phone: `+${ANA}` }, { phone: `+${BO}` }],
        lastMessage: { text: 'Hi Ana' },
        lastActivityAt: expect.any(String),
        messages: { nodes: [{ text: 'Hello all' }, { text: 'Hi Ana' }] },
      },
    ],
  });
  const [{ id, databaseId }] = groupChats.nodes;
  const one = 'query ($id: ID!) { groupChat(id: $id) { id } }';
  for (const key of [id, databaseId]) expect(await ask(harness, one, { id: key })).toEqual({ groupChat: { id } });
  expect(dataOf(await gateway.graphql(one, { id: databaseId }))).toEqual({ groupChat: null });
  expect(
    await ask(harness, '{ messages { nodes { thread { __typename id lastActivityAt } conversation { id } } } }'),
  ).toMatchObject({
    messages: { nodes: [1, 2].map(() => ({ thread: { __typename: 'GroupChat', id }, conversation: null })) },
  });
  // Events are read below the horizon of the log.
  await eventually(async () => {
    const query =
      '{ events(filter: { types: [GROUP_CHAT_UPDATED] }) { nodes { ... on GroupChatEvent { groupChat { id } } } } }';
    expect((await ask(harness, query)).events.nodes).toContainEqual({ groupChat: { id } });
  });
});

test('a private message has a conversation as its thread', async () => {
  const harness = await harnessFor(gateway);
  await harness.write({ from: ANA, text: 'Private' });
  const { messages } = await ask(harness, '{ messages { nodes { thread { __typename id } conversation { id } } } }');
  expect(messages.nodes).toEqual([
    {
      thread: { __typename: 'Conversation', id: expect.any(String) },
      conversation: { id: messages.nodes[0].thread.id },
    },
  ]);
});

test('group chats are filtered, sorted and searched, with one statement for each level', async () => {
  const harness = await harnessFor(gateway);
  for (const [id, subject] of [
    ['G1', 'Bicycles'],
    ['G2', 'Árboles'],
    ['G3', 'Cars'],
  ] as const) {
    await harness.tell('group_lifecycle_update', named(id, subject));
    await harness.write({ from: ANA, text: `To ${subject}`, groupId: id });
  }
  const subjects = async (variables = {}) =>
    (await ask(harness, LIST, variables)).groupChats.nodes.map(({ subject }: { subject: string }) => subject);
  expect(await subjects()).toEqual(['Cars', 'Árboles', 'Bicycles']);
  expect(await subjects({ orderBy: [{ field: 'ID', direction: 'ASC' }] })).toEqual(['Bicycles', 'Árboles', 'Cars']);
  expect(await subjects({ search: 'arboles' })).toEqual(['Árboles']);
  expect(await subjects({ filter: { subject: { like: 'c%' } } })).toEqual(['Cars']);
  const { channels } = await ask(harness, '{ channels { nodes { id } } }');
  expect(await subjects({ filter: { channelId: { eq: channels.nodes[0].id } } })).toHaveLength(3);
  expect(await subjects({ filter: { channelId: { ne: channels.nodes[0].id } } })).toEqual([]);

  const query = '{ groupChats { nodes { participants { phone } lastMessage { text } lastActivityAt } } }';
  await ask(harness, query);
  gateway.statements.length = 0;
  await ask(harness, query);
  // Statements of the worker are of all tenants.
  const statements = gateway.statements.filter(
    text => /\b(group_chats|group_chat_participants|messages|contacts)\b/.test(text) && !text.includes('cross-tenant'),
  );
  // The list; participants and their contacts; the last messages and what they say.
  expect(statements).toHaveLength(5);
});

test('group chats need conversations:read, and their events too', async () => {
  const harness = await harnessFor(gateway);
  const token = await gateway.addToken(harness.tenant, { scopes: ['messages:read', 'contacts:read'] });
  expect(codeOf(await gateway.graphql('{ groupChats { totalCount } }', {}, token))).toBe('INSUFFICIENT_SCOPE');
  const events = '{ events(filter: { types: [GROUP_CHAT_UPDATED] }) { nodes { id } } }';
  expect(codeOf(await gateway.graphql(events, {}, token))).toBe('INSUFFICIENT_SCOPE');
});
