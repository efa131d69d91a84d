import { afterAll, beforeAll, expect, test } from 'vitest';
import { encodeGlobalId } from '../../../src/core/global-ids.ts';
import { encodeCursor } from '../../../src/events/cursor.ts';
import { dataOf, payloadOf } from '../../support/answers.ts';
import { eventually, startGateway, type TestGateway } from '../../support/gateway.ts';
import { type Harness, harnessFor } from '../messages/inbound/harness.ts';
import { type Follower, type FollowOptions, follow } from './subscriber.ts';

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startGateway({ emulator: { faults: { userIds: false } } });
});
afterAll(() => gateway.stop());

const subscribers = async (): Promise<number> =>
  (await gateway.gateway.resources.metrics.subscribers.get()).values[0]?.value ?? 0;

interface Row extends Record<string, unknown> {
  readonly id: number;
  readonly contact_id: number;
}

/** Two people who wrote on one channel: the conversation of the second has an assignee. */
async function twoPeople({ tenant, write, query }: Harness) {
  for (const from of ['14155550101', '14155550102']) await write({ from, text: 'Hello' });
  const staff = await gateway.mutate(
    'createStaffMember',
    { name: 'Ana', email: 'ana@example.com', role: 'AGENT' },
    'staffMember { databaseId }',
    tenant.token,
  );
  const [kept, former] = await query<Row>(
    'select id::float8 as id, contact_id::float8 as contact_id from conversations where tenant_id = $1 order by id',
  );
  if (!kept || !former) throw new Error('There are no conversations.');
  const assigneeId = (payloadOf(staff) as { staffMember: { databaseId: string } }).staffMember.databaseId;
  await change(tenant.token, { id: String(former.id), assigneeId });
  return { kept, former, assigneeId };
}

const change = async (token: string, input: object): Promise<void> =>
  void payloadOf(await gateway.mutate('updateConversation', input, 'conversation { databaseId }', token));

const merge = async (token: string, { kept, former }: { kept: Row; former: Row }): Promise<void> =>
  void dataOf(
    await gateway.mutate(
      'mergeContacts',
      { id: String(kept.contact_id), fromIds: [String(former.contact_id)] },
      '__typename',
      token,
    ),
  );

const undo = async (token: string, { former }: { former: Row }): Promise<void> =>
  void dataOf(await gateway.mutate('undoMerge', { id: String(former.contact_id) }, '__typename', token));

async function subscribed(token: string, options: readonly FollowOptions[]): Promise<Follower[]> {
  const before = await subscribers();
  const followers = await Promise.all(options.map(one => follow(gateway.url, token, one)));
  await eventually(async () => expect(await subscribers()).toBe(before + options.length));
  return followers;
}

/** Waits until the tailer has read the last event. @returns its cursor */
async function caughtUp({ tenant, query }: Harness): Promise<string> {
  const [last] = await query<{ xid: string; seq: number }>(
    'select e.xid::text as xid, e.seq::float8 as seq from events e where e.tenant_id = $1 order by e.xid desc, e.seq desc limit 1',
  );
  const { logGeneration } = gateway.gateway.resources;
  const cursor = encodeCursor({ xid: BigInt(last?.xid ?? 0), seq: last?.seq ?? 0 }, logGeneration);
  await eventually(async () =>
    expect(dataOf(await gateway.graphql('{ eventCursor }', {}, tenant.token)).eventCursor).toBe(cursor),
  );
  return cursor;
}

async function deletedSince(token: string, after: string): Promise<string[]> {
  const document = 'query ($after: String!) { changes(after: $after) { deletedIds } }';
  return dataOf(await gateway.graphql(document, { after }, token)).changes.deletedIds.toSorted();
}

const told = (follower: Follower | undefined): unknown[] =>
  (follower?.events ?? []).map(({ type, data }) => {
    const { conversation, previous } = data as { conversation?: { id: number }; previous?: object };
    return { type, id: conversation?.id, previous };
  });

test('a merge tells who follows either conversation, or its assignee, what became of it', async () => {
  const harness = await harnessFor(gateway);
  const { token } = harness.tenant;
  const people = await twoPeople(harness);
  const { kept, former, assigneeId } = people;
  await change(token, { id: String(kept.id), status: 'CLOSED' });
  const start = await caughtUp(harness);
  const filters = [
    { conversationIds: [String(kept.id)] },
    { conversationIds: [String(former.id)] },
    { assigneeIds: [assigneeId] },
    { contactIds: [String(former.contact_id)] },
  ];
  const followers = await subscribed(
    token,
    filters.map(filter => ({ filter })),
  );
  await merge(token, people);
  const assignee = Number(assigneeId);
  const folded = {
    type: 'conversation.updated',
    id: kept.id,
    previous: { id: former.id, contact_id: former.contact_id, unread_count: 1 },
  };
  const changed = {
    type: 'conversation.updated',
    id: kept.id,
    previous: { status: 'closed', assignee_id: null, unread_count: 1 },
  };
  const expected = [
    [changed],
    [folded],
    [folded, changed],
    [{ type: 'contact.merged', id: undefined, previous: undefined }],
  ];
  await eventually(() => expect(followers.map(told)).toEqual(expected));
  expect(followers[0]?.events[0]?.data).toMatchObject({
    conversation: { contact_id: kept.contact_id, status: 'open', assignee_id: assignee, unread_count: 2 },
  });
  // Behind a cursor, as after a reconnect: ids from before the merge select the events of what they stand for now, too.
  const again = await subscribed(
    token,
    filters.map(filter => ({ filter, after: start })),
  );
  const merged = { type: 'contact.merged', id: undefined, previous: undefined };
  await eventually(() =>
    expect(again.map(told)).toEqual([[changed], [folded, changed], [folded, changed], [merged, folded, changed]]),
  );
  expect(await deletedSince(token, start)).toEqual(
    [
      encodeGlobalId('Contact', harness.tenant.id, String(former.contact_id)),
      encodeGlobalId('Conversation', harness.tenant.id, String(former.id)),
    ].toSorted(),
  );
  await Promise.all([...followers, ...again].map(one => one.stop()));
});

test('the undo of a merge tells of the conversations that come back and of those that were changed', async () => {
  const harness = await harnessFor(gateway);
  const { token } = harness.tenant;
  const people = await twoPeople(harness);
  const { kept, former, assigneeId } = people;
  const start = await caughtUp(harness);
  await merge(token, people);
  await caughtUp(harness);
  const followers = await subscribed(token, [
    { filter: { conversationIds: [String(kept.id)] } },
    { filter: { conversationIds: [String(former.id)] } },
    { filter: { assigneeIds: [assigneeId] } },
  ]);
  await undo(token, people);
  const restored = { type: 'conversation.created', id: former.id, previous: undefined };
  const changed = { type: 'conversation.updated', id: kept.id, previous: { unread_count: 2 } };
  // The former id stood for the kept conversation when the second one subscribed.
  const both = [changed, restored];
  await eventually(() => expect(followers.map(told)).toEqual([[changed], both, both]));
  expect(await deletedSince(token, start)).toEqual([]);
  await Promise.all(followers.map(one => one.stop()));
});

test('a conversation that moves with its contact says whose it was, in both directions', async () => {
  const harness = await harnessFor(gateway);
  const { token } = harness.tenant;
  await harness.write({ from: '14155550101', text: 'Hello' });
  const created = await gateway.mutate(
    'createContact',
    { firstName: 'Bo', phone: '+14155550102' },
    'contact { databaseId }',
    token,
  );
  const [moved] = await harness.query<Row>(
    'select id::float8 as id, contact_id::float8 as contact_id from conversations where tenant_id = $1',
  );
  if (!moved) throw new Error('There is no conversation.');
  const survivorId = Number((payloadOf(created) as { contact: { databaseId: string } }).contact.databaseId);
  const people = { kept: { id: 0, contact_id: survivorId }, former: moved };
  await caughtUp(harness);
  const [follower] = await subscribed(token, [{ filter: { conversationIds: [String(moved.id)] } }]);
  await merge(token, people);
  await undo(token, people);
  const updated = { type: 'conversation.updated', id: moved.id };
  await eventually(() =>
    expect(told(follower)).toEqual([
      { ...updated, previous: { contact_id: moved.contact_id } },
      { ...updated, previous: { contact_id: survivorId } },
    ]),
  );
  await follower?.stop();
});

test('a subscription with ids from before a merge follows what they stand for now, live, from a cursor and in the list', async () => {
  const harness = await harnessFor(gateway);
  const { token } = harness.tenant;
  const people = await twoPeople(harness);
  const { kept, former } = people;
  await merge(token, people);
  await harness.write({ from: '14155550103', text: 'Of another person' });
  const other = await harness.query<Row>(
    'select id::float8 as id, contact_id::float8 as contact_id from conversations where tenant_id = $1 and id <> $2',
    kept.id,
  );
  const merged = await caughtUp(harness);
  const received = { types: ['MESSAGE_RECEIVED'] };
  const filters = [
    { ...received, contactIds: [String(former.contact_id)] },
    { ...received, conversationIds: [encodeGlobalId('Conversation', harness.tenant.id, String(former.id))] },
    { ...received, contactIds: [String(other[0]?.contact_id), '987654'] },
    { ...received, conversationIds: ['987654'] },
  ];
  const live = await subscribed(
    token,
    filters.map(filter => ({ filter })),
  );
  await harness.write({ from: '14155550101', text: 'Still here' });
  await harness.write({ from: '14155550103', text: 'So am I' });
  await caughtUp(harness);
  const expected = [['Still here'], ['Still here'], ['So am I'], []];
  const texts = ({ events }: Follower): unknown[] => events.map(({ data }) => data.message?.message);
  await eventually(() => expect(live.map(texts)).toEqual(expected));
  const again = await subscribed(
    token,
    filters.map(filter => ({ filter, after: merged })),
  );
  await eventually(() => expect(again.map(texts)).toEqual(expected));
  const list =
    'query ($filter: EventFilter, $after: String) { events(filter: $filter, after: $after) { nodes { databaseId } } }';
  const listed = async (filter: object): Promise<number> =>
    dataOf(await gateway.graphql(list, { filter, after: merged }, token)).events.nodes.length;
  expect(await Promise.all(filters.map(listed))).toEqual([1, 1, 1, 0]);
  await Promise.all([...live, ...again].map(one => one.stop()));
});
