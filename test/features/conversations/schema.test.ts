import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { dataOf } from '../../support/answers.ts';
import { eventually, startGateway, type TestGateway } from '../../support/gateway.ts';
import { type Harness, harnessFor } from '../messages/inbound/harness.ts';

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startGateway({ emulator: { faults: { userIds: false } } });
});
afterAll(() => gateway.stop());

const ANA = '14155550101';
const BO = '14155550102';
const ask = (harness: Harness, document: string, variables: object = {}) =>
  gateway.graphql(document, variables, harness.tenant.token);
const data = async (harness: Harness, document: string, variables: object = {}) =>
  dataOf(await ask(harness, document, variables));
const staff = async (harness: Harness, name: string): Promise<string> => {
  const [row] = await harness.query<{ id: string }>(
    "insert into staff (tenant_id, name, email) values ($1, $2, $2 || '@example.com') returning id",
    name,
  );
  return row?.id ?? '';
};
const UPDATE = `mutation ($input: UpdateConversationInput!) { updateConversation(input: $input) {
  conversation { databaseId status snoozedUntil assignee { name } tags { name color } }
  userErrors { code message path ... on ConflictError { current { id ... on Conversation { assignee { name } } } } } } }`;
const update = async (harness: Harness, input: object) =>
  (await ask(harness, UPDATE, { input })).data.updateConversation;
const list = async (harness: Harness, filter: object, orderBy?: object[]) =>
  (
    await data(
      harness,
      'query ($filter: ConversationFilter $orderBy: [ConversationOrder!]) { conversations(filter: $filter orderBy: $orderBy) { totalCount nodes { contact { phone } } } }',
      { filter, orderBy },
    )
  ).conversations.nodes.map((node: { contact: { phone: string } }) => node.contact.phone);
const idOf = async (harness: Harness, phone = ANA): Promise<string> => {
  const [row] = await harness.query<{ id: string }>(
    'select v.id from conversations v join contacts c on c.tenant_id = v.tenant_id and c.id = v.contact_id where v.tenant_id = $1 and c.phone = $2',
    `+${phone}`,
  );
  return row?.id ?? '';
};

const INBOX = `query ($f: ConversationFilter $after: String) { conversations(first: 50 after: $after filter: $f orderBy: [{ field: LAST_ACTIVITY_AT direction: DESC }]) {
  pageInfo { endCursor hasNextPage } edges { node { id status unreadCount waitingSince serviceWindow { isOpen } assignee { name } tags { name color }
    contact { fullName phone } lastMessage { direction text status createdAt } } } } }`;

test('the inbox takes one statement, however many conversations it has', async () => {
  const harness = await harnessFor(gateway);
  const eva = await staff(harness, 'Eva');
  const tag = (
    await data(harness, 'mutation { createTag(input: { name: "VIP", color: "#FF0000" }) { tag { databaseId } } }')
  ).createTag.tag.databaseId;
  for (let person = 0; person < 5; person += 1) {
    await harness.write({ from: `1415555020${person}`, text: `Hello ${person}` });
    await update(harness, { id: await idOf(harness, `1415555020${person}`), assigneeId: eva, addTagIds: [tag] });
  }
  await data(harness, INBOX);
  gateway.statements.length = 0;
  const { conversations } = await data(harness, INBOX, { f: { status: { eq: 'OPEN' } } });
  // Statements of the worker are of all tenants.
  const statements = gateway.statements.filter(
    text =>
      /from (conversations|contacts|tags|staff|messages|page|p)\b/.test(text.replaceAll('"', '')) &&
      !text.includes('cross-tenant'),
  );
  expect(conversations.edges.map((edge: { node: object }) => edge.node)).toMatchObject(
    [4, 3, 2, 1, 0].map(person => ({
      status: 'OPEN',
      unreadCount: 1,
      assignee: { name: 'Eva' },
      tags: [{ name: 'VIP', color: '#ff0000' }],
      contact: { phone: `+1415555020${person}` },
      lastMessage: { direction: 'INBOUND', text: `Hello ${person}` },
    })),
  );
  // Conversations with their contacts, assignees, tags and last messages.
  expect(statements).toHaveLength(1);
});

test('filters find by status, assignee, unread count, tag, channel, contact, window and activity, with and, or and not', async () => {
  const harness = await harnessFor(gateway);
  await harness.write({ from: ANA, text: 'One' });
  await harness.write({ from: BO, text: 'Two' });
  const [ana, bo, eva] = [await idOf(harness), await idOf(harness, BO), await staff(harness, 'Eva')];
  const { tag } = (await data(harness, 'mutation { createTag(input: { name: "VIP" }) { tag { id } } }')).createTag;
  await update(harness, { id: ana, assigneeId: eva, addTagIds: [tag.id] });
  await update(harness, { id: bo, status: 'CLOSED' });
  const hourAgo = new Date(Date.now() - 3_600_000).toISOString();
  for (const filter of [
    { status: { eq: 'OPEN' } },
    { assigneeId: { eq: eva } },
    { assigneeId: { isNull: false } },
    { tagId: { eq: tag.id } },
    { waitingSince: { isNull: false } },
    { unreadCount: { gt: 0 }, status: { ne: 'CLOSED' } },
    { or: [{ assigneeId: { eq: eva } }, { unreadCount: { gt: 5 } }] },
    { not: { tagId: { isNull: true } } },
  ])
    expect([filter, await list(harness, filter)]).toEqual([filter, [`+${ANA}`]]);
  for (const filter of [
    { lastActivityAt: { gt: hourAgo } },
    { windowExpiresAt: { gt: hourAgo } },
    { unreadCount: { gte: 1 } },
  ])
    expect([filter, await list(harness, filter, [{ field: 'LAST_ACTIVITY_AT', direction: 'ASC' }])]).toEqual([
      filter,
      [`+${ANA}`, `+${BO}`],
    ]);
  expect(await list(harness, { lastActivityAt: { lt: hourAgo } })).toEqual([]);
  const contact = await data(
    harness,
    'query ($phone: String!) { contacts(filter: { phone: { eq: $phone } }) { nodes { conversations { nodes { databaseId } } } } }',
    {
      phone: `+${BO}`,
    },
  );
  expect(contact.contacts.nodes[0].conversations.nodes).toEqual([{ databaseId: bo }]);
});

test('pages of the inbox by cursor have every conversation once, in the order of activity', async () => {
  const harness = await harnessFor(gateway);
  for (let person = 0; person < 7; person += 1) await harness.write({ from: `1415555030${person}`, text: 'Hello' });
  await harness.query(
    "update conversations set last_activity_at = now() - (id % 3) * interval '9 minutes' where tenant_id = $1 returning id",
  );
  const seen: string[] = [];
  for (let after: string | null = null, more = true; more; ) {
    const { conversations } = await data(
      harness,
      'query ($after: String) { conversations(first: 2 after: $after) { pageInfo { endCursor hasNextPage } nodes { databaseId } } }',
      { after },
    );
    seen.push(...conversations.nodes.map((node: { databaseId: string }) => node.databaseId));
    after = conversations.pageInfo.endCursor;
    more = conversations.pageInfo.hasNextPage;
  }
  const rows = await harness.query<{ id: string }>(
    'select id from conversations where tenant_id = $1 order by last_activity_at desc, id desc',
  );
  expect(seen).toEqual(rows.map(row => row.id));
});

describe('an update', () => {
  test('changes status, assignee and tags, with one event that has the former values', async () => {
    const harness = await harnessFor(gateway);
    await harness.write({ from: ANA, text: 'One' });
    const [id, eva] = [await idOf(harness), await staff(harness, 'Eva')];
    const later = new Date(Date.now() + 3_600_000).toISOString();
    const { tag } = (await data(harness, 'mutation { createTag(input: { name: "VIP" }) { tag { databaseId } } }'))
      .createTag;
    const payload = await update(harness, {
      id,
      status: 'SNOOZED',
      snoozedUntil: later,
      assigneeId: eva,
      addTagIds: [tag.databaseId],
    });
    expect(payload).toMatchObject({
      conversation: { status: 'SNOOZED', snoozedUntil: later, assignee: { name: 'Eva' }, tags: [{ name: 'VIP' }] },
      userErrors: [],
    });
    await update(harness, { id, assigneeId: eva });
    expect(await harness.events('conversation.updated')).toMatchObject([
      {
        conversation: { status: 'snoozed', assignee_id: Number(eva), tag_ids: [Number(tag.databaseId)] },
        previous: { status: 'open', assignee_id: null, snoozed_until: null, tag_ids: [] },
      },
    ]);
  });

  test('tells all faults at once', async () => {
    const harness = await harnessFor(gateway);
    await harness.write({ from: ANA, text: 'One' });
    const id = await idOf(harness);
    const payload = await update(harness, {
      id,
      status: 'SNOOZED',
      snoozedUntil: '2020-01-01T00:00:00Z',
      assigneeId: '999999',
      addTagIds: ['999999'],
    });
    expect(payload).toMatchObject({
      conversation: null,
      userErrors: [
        { code: 'OUT_OF_RANGE', path: ['snoozedUntil'] },
        { code: 'REFERENCE_NOT_FOUND', path: ['assigneeId'] },
        { code: 'REFERENCE_NOT_FOUND', path: ['addTagIds', '0'] },
      ],
    });
    expect((await update(harness, { id: '999999', status: 'OPEN' })).userErrors).toMatchObject([{ code: 'NOT_FOUND' }]);
  });

  test('of two people who assign at once, exactly one wins, and the other learns who has it', async () => {
    const harness = await harnessFor(gateway);
    const [eva, max] = [await staff(harness, 'Eva'), await staff(harness, 'Max')];
    for (let round = 0; round < 5; round += 1) {
      const from = `1415555040${round}`;
      await harness.write({ from, text: 'One' });
      const id = await idOf(harness, from);
      const answers = await Promise.all(
        [eva, max].map(assigneeId => update(harness, { id, expectedAssigneeId: null, assigneeId })),
      );
      const [winner, ...others] = answers.filter(answer => answer.conversation !== null);
      const [loser] = answers.filter(answer => answer.conversation === null);
      expect(others).toEqual([]);
      expect(loser.userErrors).toMatchObject([
        { code: 'CONFLICT', current: { assignee: { name: winner.conversation.assignee.name } } },
      ]);
    }
    expect(await harness.events('conversation.updated')).toHaveLength(5);
  });
});

describe('marking as read', () => {
  const READ = `mutation ($input: MarkConversationReadInput!) { markConversationRead(input: $input) {
    conversation { unreadCount } userErrors { code path } } }`;
  const read = async (harness: Harness, input: object) =>
    (await ask(harness, READ, { input })).data.markConversationRead;

  test('covers calls, which the network does not mark', async () => {
    const harness = await harnessFor(gateway);
    const call = (id: string) => {
      const timestamp = String(Math.floor(Date.now() / 1_000));
      return harness.tell('calls', {
        calls: [{ id, event: 'connect', direction: 'USER_INITIATED', from: ANA, timestamp }],
      });
    };
    const unread = async () => (await harness.query('select unread_count from conversations where tenant_id = $1'))[0];
    await call('wacid.1');
    const id = await idOf(harness);
    expect(await unread()).toEqual({ unread_count: 1 });
    const nothingLeft = { conversation: { unreadCount: 0 }, userErrors: [] };
    expect(await read(harness, { id })).toEqual(nothingLeft);
    const wamid = await harness.write({ from: ANA, text: 'Please call back' });
    await call('wacid.2');
    expect(await read(harness, { id })).toEqual(nothingLeft);
    const seen = await fetch(`${gateway.emulator.url}/_emulator/inbound`).then(answer => answer.json());
    expect(seen.messages.find((one: { wamid: string }) => one.wamid === wamid)).toMatchObject({ read: true });
    await call('wacid.3');
    await harness.write({ from: ANA, text: 'Hello?' });
    const third = (await harness.messages()).find(message => message.wamid === 'wacid.3')?.id;
    expect(await read(harness, { id, upToMessageId: third })).toMatchObject({ conversation: { unreadCount: 1 } });
  });

  test('marks at the network up to a message, and counts what came after', async () => {
    const harness = await harnessFor(gateway);
    for (const text of ['One', 'Two', 'Three']) await harness.write({ from: ANA, text });
    const id = await idOf(harness);
    const messages = await harness.messages();
    expect(await read(harness, { id, upToMessageId: messages[1]?.id, showTyping: true })).toEqual({
      conversation: { unreadCount: 1 },
      userErrors: [],
    });
    const seen = await fetch(`${gateway.emulator.url}/_emulator/inbound`).then(answer => answer.json());
    const isRead = new Map(seen.messages.map((one: { wamid: string; read: boolean }) => [one.wamid, one.read]));
    expect(messages.map(({ wamid }) => isRead.get(wamid))).toEqual([true, true, false]);
    expect(await read(harness, { id })).toEqual({ conversation: { unreadCount: 0 }, userErrors: [] });
    expect(await read(harness, { id })).toEqual({ conversation: { unreadCount: 0 }, userErrors: [] });
    for (const upToMessageId of ['01a2032a-8a46-752a-a26f-42e57a00d942', 'x'])
      expect(await read(harness, { id, upToMessageId })).toMatchObject({
        conversation: null,
        userErrors: [{ code: 'REFERENCE_NOT_FOUND', path: ['upToMessageId'] }],
      });
    expect(await harness.events('conversation.updated')).toMatchObject([
      { conversation: { unread_count: 1 }, previous: { unread_count: 3 } },
      { conversation: { unread_count: 0 }, previous: { unread_count: 1 } },
    ]);
  });

  test('counts here what the network cannot mark any more: a message that it does not keep, a number that is away', async () => {
    const harness = await harnessFor(gateway);
    await harness.write({ from: ANA, text: 'One' });
    const id = await idOf(harness);
    const read0 = { conversation: { unreadCount: 0 }, userErrors: [] };
    await harness.query(`update message_states set wamid = 'wamid.gone' where tenant_id = $1`);
    expect(await read(harness, { id })).toEqual(read0);
    await harness.write({ from: ANA, text: 'Two' });
    await harness.query(`update channels set status = 'disconnected' where tenant_id = $1`);
    expect(await read(harness, { id })).toEqual(read0);
  });

  test('while messages arrive leaves unread exactly those that came after the read', async () => {
    const harness = await harnessFor(gateway);
    await harness.write({ from: ANA, text: 'First' });
    const id = await idOf(harness);
    await Promise.all([
      ...Array.from({ length: 8 }, (_, index) => harness.write({ from: ANA, text: `Message ${index}` })),
      ...Array.from({ length: 4 }, () => read(harness, { id })),
    ]);
    const [row] = await harness.query<{ unread_count: number }>(
      'select unread_count from conversations where tenant_id = $1',
    );
    const [after] = await harness.query<{ n: number }>(
      `select count(*)::int as n from messages m where m.tenant_id = $1 and m.direction = 'inbound' and m.id > (
         select max(s.message_id::text)::uuid from message_states s where s.tenant_id = $1 and s.read_at is not null)`,
    );
    expect(row?.unread_count).toBe(after?.n);
  });
});

describe('the messages of a conversation', () => {
  const THREAD = `query ($id: ID! $first: Int $after: String $last: Int $before: String $around: ID) { conversation(id: $id) {
    messages(first: $first after: $after last: $last before: $before around: $around) {
      totalCount pageInfo { hasNextPage hasPreviousPage startCursor endCursor } nodes { databaseId text } } } }`;

  test('are oldest first without reactions, and both ends of each page are exact', async () => {
    const harness = await harnessFor(gateway);
    const wamids: string[] = [];
    for (let index = 0; index < 6; index += 1) wamids.push(await harness.write({ from: ANA, text: `${index}` }));
    await harness.write({ from: ANA, type: 'reaction', messageId: wamids[0], emoji: '👍' });
    const id = await idOf(harness);
    const thread = async (args: object) => {
      const { messages } = (await data(harness, THREAD, { id, ...args })).conversation;
      const { hasPreviousPage, hasNextPage } = messages.pageInfo;
      return {
        texts: messages.nodes.map((node: { text: string }) => node.text).join(''),
        ends: [hasPreviousPage, hasNextPage],
        ...messages.pageInfo,
        ids: messages.nodes.map((node: { databaseId: string }) => node.databaseId),
        totalCount: messages.totalCount,
      };
    };
    const all = await thread({});
    expect(all).toMatchObject({ texts: '012345', ends: [false, false], totalCount: 6 });
    const latest = await thread({ last: 2 });
    expect(latest).toMatchObject({ texts: '45', ends: [true, false] });
    const before = await thread({ last: 2, before: latest.startCursor });
    expect(before).toMatchObject({ texts: '23', ends: [true, true] });
    expect(await thread({ last: 2, before: before.startCursor })).toMatchObject({ texts: '01', ends: [false, true] });
    expect(await thread({ first: 2 })).toMatchObject({ texts: '01', ends: [false, true] });
    expect(await thread({ first: 4, after: before.startCursor })).toMatchObject({ texts: '345', ends: [true, false] });
    expect(await thread({ first: 3, around: all.ids[2] })).toMatchObject({ texts: '123', ends: [true, true] });
    expect(await thread({ first: 4, around: all.ids[0] })).toMatchObject({ texts: '01', ends: [false, true] });
    expect(await thread({ last: 4, around: all.ids[5] })).toMatchObject({ texts: '345', ends: [true, false] });
  });

  test('lead back to it, and a foreign conversation is not found', async () => {
    const harness = await harnessFor(gateway);
    const other = await harnessFor(gateway);
    await harness.write({ from: ANA, text: 'One' });
    const id = await idOf(harness);
    const { messages } = await data(
      harness,
      '{ messages { nodes { conversation { databaseId status channel { databaseId } } } } }',
    );
    expect(messages.nodes).toMatchObject([{ conversation: { databaseId: id, status: 'OPEN' } }]);
    expect(await data(other, THREAD, { id })).toEqual({ conversation: null });
  });
});

test('tags have unique names, and deleting one takes it from conversations', async () => {
  const harness = await harnessFor(gateway);
  const create =
    'mutation ($input: CreateTagInput!) { createTag(input: $input) { tag { databaseId name color } userErrors { code path } } }';
  const { tag } = (await data(harness, create, { input: { name: ' VIP ' } })).createTag;
  expect(tag).toMatchObject({ name: 'VIP', color: '#757575' });
  expect((await ask(harness, create, { input: { name: 'vip', color: 'red' } })).data.createTag).toEqual({
    tag: null,
    userErrors: [
      { code: 'INVALID', path: ['color'] },
      { code: 'TAKEN', path: ['name'] },
    ],
  });
  expect((await ask(harness, create, { input: { name: 'vip' } })).data.createTag.userErrors).toEqual([
    { code: 'TAKEN', path: ['name'] },
  ]);
  await data(harness, `mutation { updateTag(input: { id: "${tag.databaseId}", color: "#00FF00" }) { tag { color } } }`);
  await harness.write({ from: ANA, text: 'One' });
  await update(harness, { id: await idOf(harness), addTagIds: [tag.databaseId] });
  expect(await data(harness, '{ tags { nodes { name color } } }')).toEqual({
    tags: { nodes: [{ name: 'VIP', color: '#00ff00' }] },
  });
  await data(harness, `mutation { deleteTag(input: { id: "${tag.databaseId}" }) { deletedId } }`);
  await eventually(async () => expect(await list(harness, { tagId: { isNull: true } })).toEqual([`+${ANA}`]));
});
