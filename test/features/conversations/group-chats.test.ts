import { afterAll, beforeAll, expect, test } from 'vitest';
import type { EventPayloads } from '../../../src/core/events.ts';
import { startGateway, type TestGateway } from '../../support/gateway.ts';
import { type Harness, harnessFor } from '../messages/inbound/harness.ts';

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startGateway({ emulator: { faults: { userIds: false } } });
});
afterAll(() => gateway.stop());

const ANA = '14155550101';
const BO = '14155550102';
const at = Math.floor(Date.now() / 1_000) - 1_000;
const update = (type: string, seconds: number, more: object) => ({
  groups: [{ timestamp: String(at + seconds), group_id: 'G1', type, ...more }],
});
const groups = (harness: Harness) =>
  harness.query('select network_id, subject, status, invite_link from group_chats where tenant_id = $1');
const participants = async (harness: Harness) =>
  (
    await harness.query<{ phone: string }>(
      `select phone from (
         select distinct on (p.contact_id) c.phone, p.is_member
         from group_chat_participants p join contacts c on c.tenant_id = p.tenant_id and c.id = p.contact_id
         where p.tenant_id = $1 order by p.contact_id, p.told_at desc, p.id desc) latest
       where is_member order by 1`,
    )
  ).map(row => row.phone);

test('a message in a group chat belongs to it: no private conversation, no window, no opt-out, no count', async () => {
  const harness = await harnessFor(gateway);
  await harness.write({ from: ANA, text: 'STOP', groupId: 'G1' });
  await harness.write({ from: BO, text: 'Hello all', groupId: 'G1' });
  expect(await harness.query('select 1 from conversations where tenant_id = $1')).toEqual([]);
  expect(await harness.events('contact.opted_out')).toEqual([]);
  expect(
    await harness.query('select coalesce(sum(conversations), 0)::int as n from monthly_usage where tenant_id = $1'),
  ).toEqual([{ n: 0 }]);
  const received = await harness.events('message.received');
  expect(received).toMatchObject([
    { message: { message: 'STOP', interaction_id: null }, is_answerable: false },
    { message: { message: 'Hello all', interaction_id: null }, is_answerable: false },
  ]);
  expect(received[0]?.details?.['group_chat_id']).toBe(received[1]?.details?.['group_chat_id']);
  expect(await participants(harness)).toEqual([`+${ANA}`, `+${BO}`]);
});

test('the APIs show it without a private conversation or window', async () => {
  const harness = await harnessFor(gateway);
  await harness.write({ from: ANA, text: 'Hello all', groupId: 'G1' });
  const query = '{ messages(first: 5) { nodes { text conversationId serviceWindow { isOpen } phone } } }';
  const answer = await gateway.graphql(query, {}, harness.tenant.token);
  expect(answer.errors).toBeUndefined();
  expect(answer.data.messages.nodes).toEqual([
    { text: 'Hello all', conversationId: null, serviceWindow: { isOpen: false }, phone: `+${ANA}` },
  ]);
  const rest = await fetch(`${gateway.url}/api/v2/messages`, {
    headers: { authorization: `Bearer ${harness.tenant.token}` },
  });
  expect(await rest.json()).toMatchObject({ data: [{ interaction_id: null }] });
});

test('a person’s private conversation is their own: what they write in a group changes neither its window nor its order', async () => {
  const harness = await harnessFor(gateway);
  await harness.write({ from: ANA, text: 'Private' });
  const window = await harness.query('select window_expires_at from conversations where tenant_id = $1');
  await harness.tell('messages', {
    contacts: [{ wa_id: ANA }],
    messages: [
      {
        from: ANA,
        group_id: 'G1',
        id: 'wamid.g',
        timestamp: String(Math.floor(Date.now() / 1_000)),
        type: 'text',
        text: { body: 'Public' },
      },
    ],
  });
  expect(await harness.query('select window_expires_at from conversations where tenant_id = $1')).toEqual(window);
  expect((await harness.messages()).map(row => [row.body, row.conversation_id === null])).toEqual([
    ['Private', false],
    ['Public', true],
  ]);
});

test('subject, status and participants follow the network, in any order and spelling', async () => {
  const harness = await harnessFor(gateway);
  await harness.tell(
    'group_settings_update',
    update('group_settings_update', 30, { group_subject: { text: 'Trip 2', update_successful: true } }),
  );
  await harness.tell(
    'group_lifecycle_update',
    update('group_create', 10, { subject: 'Trip', invite_link: 'https://chat' }),
  );
  await harness.tell(
    'group_participant_update',
    update('group_add_participants', 20, { added_participants: [{ wa_id: ANA }, { input: `+${BO}` }] }),
  );
  expect(await participants(harness)).toEqual([`+${ANA}`, `+${BO}`]);
  await harness.tell(
    'group_participants_update',
    update('group_participants_remove', 40, { removed_participants: [{ wa_id: BO }] }),
  );
  await harness.tell(
    'group_participants_update',
    update('group_participants_add', 35, { added_participants: [{ wa_id: BO }] }),
  );
  await harness.tell(
    'group_settings_update',
    update('group_settings_update', 50, { group_subject: { text: 'No', update_successful: false } }),
  );
  const errors = [{ code: 131_000, title: 'Something went wrong' }];
  await harness.tell('group_lifecycle_update', update('group_delete', 55, { request_id: 'r', errors }));
  const failed = { group_id: 'G2', subject: 'Never', errors };
  await harness.tell('group_lifecycle_update', update('group_create', 55, failed));
  expect(await groups(harness)).toMatchObject([{ network_id: 'G1', subject: 'Trip 2', status: 'active' }]);
  expect(await participants(harness)).toEqual([`+${ANA}`]);
  await harness.tell('group_lifecycle_update', update('group_delete', 60, {}));
  expect(await groups(harness)).toMatchObject([{ status: 'deleted' }]);
  const told = await harness.query<{ payload: EventPayloads['group_chat.updated'] }>(
    "select payload from events where tenant_id = $1 and type = 'group_chat.updated' order by events.xid, events.seq",
  );
  expect(told.map(({ payload }) => payload.group_chat.subject)).toEqual(Array(7).fill('Trip 2'));
  expect(told.map(({ payload }) => [payload.added_contact_ids.length, payload.removed_contact_ids.length])).toEqual([
    [0, 0],
    [0, 0],
    [2, 0],
    [0, 1],
    [1, 0],
    [0, 0],
    [0, 0],
  ]);
  expect(told.at(-1)?.payload.group_chat.status).toBe('deleted');
  expect(JSON.stringify(told)).not.toContain('https://chat');
});

test('when two contacts prove to be one person, what they wrote in groups, their reactions and their places stay', async () => {
  const harness = await harnessFor(gateway);
  const anonymous = { userId: 'US.77' };
  const first = await harness.write({ ...anonymous, text: 'One', groupId: 'G1' });
  await harness.write({ from: BO, text: 'Two', groupId: 'G1' });
  await harness.write({ ...anonymous, type: 'reaction', messageId: first, emoji: '👍' });
  await harness.write({ type: 'reaction', from: BO, messageId: first, emoji: '❤️' });
  expect(await harness.query('select 1 from contacts where tenant_id = $1')).toHaveLength(2);
  await harness.write({ ...anonymous, from: BO, text: 'It is me' });
  const contacts = await harness.query<{ id: string }>('select id from contacts where tenant_id = $1');
  expect(contacts).toHaveLength(1);
  const texts = (await harness.messages()).map(row => row.body);
  expect(texts).toEqual(expect.arrayContaining(['One', 'Two', '👍', '❤️']));
  const [contact] = contacts;
  for (const table of ['message_reactions', 'group_chat_participants'])
    expect([table, await harness.query(`select distinct contact_id from ${table} where tenant_id = $1`)]).toEqual([
      table,
      [{ contact_id: contact?.id }],
    ]);
});
