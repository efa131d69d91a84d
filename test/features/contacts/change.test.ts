import { afterAll, beforeAll, expect, test } from 'vitest';
import { codeOf, dataOf, faultsOf } from '../../support/answers.ts';
import { startGateway, type TestGateway } from '../../support/gateway.ts';
import { newPhone, seedOf } from '../../support/seed.ts';

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startGateway();
});
afterAll(() => gateway.stop());

const FIELDS = `databaseId firstName lastName type email phone company description address city state zip country { id }
  isOptedOut optedOutAt updatedAt source { name } status { name } assignee { name } groups { name }`;
const create = async (input: object = {}) =>
  dataOf(
    await gateway.graphql(`mutation ($input: CreateContactInput!) { createContact(input: $input) { ${FIELDS} } }`, {
      input: { phone: newPhone(), ...input },
    }),
  ).createContact;
const update = (id: number, input: object) =>
  gateway.graphql(
    `mutation ($id: ID!, $input: UpdateContactInput!) { updateContact(id: $id, input: $input) { ${FIELDS} } }`,
    { id, input },
  );
const label = (type: 'Group' | 'Source' | 'Status', name?: string) => seedOf(gateway).label(type, name);

interface EventRow {
  readonly [column: string]: unknown;
  readonly type: string;
  readonly payload: { readonly contact: Record<string, unknown>; readonly previous?: Record<string, unknown> };
}
const eventsOf = (id: number): Promise<EventRow[]> =>
  gateway.database.query<EventRow>(
    `select type, payload from events where tenant_id = $1 and (payload->'contact'->>'id')::bigint = $2 order by xid, seq`,
    [gateway.tenant.id, id],
  );
const counter = async (): Promise<[counted: number, there: number]> => {
  const [row] = await gateway.database.query<{ counted: number; there: number }>(
    'select contacts::int as counted, (select count(*)::int from contacts where tenant_id = $1) as there from tenant_usage where tenant_id = $1',
    [gateway.tenant.id],
  );
  return [row?.counted ?? -1, row?.there ?? -2];
};

const everything = async () => ({
  firstName: 'Ann',
  lastName: 'Lee',
  type: 'GUEST',
  email: `ann${newPhone().slice(1)}@example.com`,
  company: 'Co',
  description: 'D',
  address: 'A',
  city: 'C',
  state: 'S',
  zip: 'Z',
  countryId: 276,
  sourceId: await label('Source'),
  statusId: await label('Status'),
  groupIds: [await label('Group')],
});

test('omitted fields keep their values', async () => {
  const { updatedAt: _, ...before } = await create(await everything());
  const { updatedAt: __, ...after } = dataOf(await update(before.databaseId, {})).updateContact;
  expect(after).toEqual(before);
});

test('null clears every optional field', async () => {
  const { databaseId, phone } = await create(await everything());
  const nothing = Object.fromEntries(
    Object.keys(await everything())
      .filter(name => name !== 'type')
      .map(name => [name, null]),
  );
  expect(dataOf(await update(databaseId, nothing)).updateContact).toMatchObject({
    firstName: null,
    lastName: null,
    type: 'GUEST',
    email: null,
    phone,
    company: null,
    description: null,
    address: null,
    city: null,
    state: null,
    zip: null,
    country: null,
    source: null,
    status: null,
    groups: [],
  });
});

test('a phone cannot be cleared, and a number or address of another contact is rejected by field without a change', async () => {
  const [one, two] = [await create({ email: 'one@example.com' }), await create({ email: 'two@example.com' })];
  expect(faultsOf(await update(two.databaseId, { phone: null }))).toHaveProperty('phone');
  expect(faultsOf(await update(two.databaseId, { phone: one.phone, firstName: 'Changed' }))).toEqual({
    phone: [expect.any(String)],
  });
  expect(faultsOf(await update(two.databaseId, { email: 'ONE@example.com', firstName: 'Changed' }))).toEqual({
    email: [expect.any(String)],
  });
  expect(faultsOf(await update(two.databaseId, { sourceId: '999999', groupIds: ['999999'] }))).toEqual({
    sourceId: [expect.any(String)],
    groupIds: [expect.any(String)],
  });
  expect(dataOf(await update(two.databaseId, {})).updateContact).toMatchObject({
    firstName: null,
    phone: two.phone,
    email: 'two@example.com',
  });
  expect((await eventsOf(two.databaseId)).map(event => event.type)).toEqual(['contact.created']);
});

test('a contact may be given its own number and address in another spelling', async () => {
  const contact = await create({ phone: '+52 55 9999 0001', email: 'own@example.com' });
  expect(
    dataOf(await update(contact.databaseId, { phone: '+521 55 9999 0001', email: 'OWN@example.com' })).updateContact,
  ).toMatchObject({ phone: '+525599990001', email: 'OWN@example.com' });
});

test('groupIds replaces the groups of a contact, adding and removing', async () => {
  const [a, b, c] = [await label('Group', 'exact a'), await label('Group', 'exact b'), await label('Group', 'exact c')];
  const contact = await create({ groupIds: [a, b] });
  const groupsAfter = async (groupIds: number[]) =>
    dataOf(await update(contact.databaseId, { groupIds })).updateContact.groups.map(
      (group: { name: string }) => group.name,
    );
  expect(await groupsAfter([b, c])).toEqual(['exact b', 'exact c']);
  expect(await groupsAfter([])).toEqual([]);
  expect(await groupsAfter([c, c, a])).toEqual(['exact a', 'exact c']);
});

test('several updates in one document each return the state after that update', async () => {
  const [a, b] = [await label('Group', 'turn a'), await label('Group', 'turn b')];
  const [source, renamed] = [await label('Source', 'turn source'), 'turn source, renamed'];
  const { databaseId: id } = await create({ sourceId: source });
  const document = `mutation ($id: ID!, $source: ID!) {
    first: updateContact(id: $id, input: { groupIds: [${a}] }) { groups { name contactsCount } source { name } }
    rename: updateSource(id: $source, input: { name: "${renamed}" }) { name }
    second: updateContact(id: $id, input: { groupIds: [${a}, ${b}] }) { groups { name contactsCount } source { name } }
    third: updateContact(id: $id, input: { groupIds: [] }) { groups { name } }
  }`;
  expect(dataOf(await gateway.graphql(document, { id, source }))).toEqual({
    first: { groups: [{ name: 'turn a', contactsCount: 1 }], source: { name: 'turn source' } },
    rename: { name: renamed },
    second: {
      groups: [
        { name: 'turn a', contactsCount: 1 },
        { name: 'turn b', contactsCount: 1 },
      ],
      source: { name: renamed },
    },
    third: { groups: [] },
  });
});

test('contact.updated contains the new values, and the previous values of changed fields', async () => {
  const contact = await create({ firstName: 'Old', city: 'Rome' });
  dataOf(await update(contact.databaseId, { firstName: 'New', city: 'Rome' }));
  const event = (await eventsOf(contact.databaseId)).at(-1);
  expect(event).toMatchObject({ type: 'contact.updated', payload: { contact: { firstname: 'New', city: 'Rome' } } });
  expect(event?.payload.previous).toEqual({ firstname: 'Old' });
});

test('opting out and in again writes one event each, and a repetition changes nothing', async () => {
  const { databaseId: id } = await create();
  const opt = async (isOptedOut: boolean | null) => dataOf(await update(id, { isOptedOut })).updateContact;
  const out = await opt(true);
  expect(out).toMatchObject({ isOptedOut: true, optedOutAt: expect.any(String) });
  expect((await opt(true)).optedOutAt).toBe(out.optedOutAt);
  expect((await opt(null)).optedOutAt).toBe(out.optedOutAt);
  expect(await opt(false)).toMatchObject({ isOptedOut: false, optedOutAt: null });
  await opt(false);
  const types = (await eventsOf(id)).map(event => event.type).filter(type => type.startsWith('contact.opted'));
  expect(types).toEqual(['contact.opted_out', 'contact.opted_in']);
});

test('concurrent updates of different fields are all kept', async () => {
  const { databaseId: id } = await create();
  const inputs = [
    { firstName: 'F' },
    { lastName: 'L' },
    { city: 'C' },
    { zip: 'Z' },
    { company: 'Co' },
    { state: 'S' },
    { type: 'GUEST' },
  ];
  await Promise.all(inputs.map(async input => dataOf(await update(id, input))));
  expect(dataOf(await update(id, {})).updateContact).toMatchObject(Object.assign({}, ...inputs));
  expect((await eventsOf(id)).filter(event => event.type === 'contact.updated')).toHaveLength(inputs.length);
});

test('deleting a contact deletes its messages, conversations, memberships and queued sends, returns its last state, and reduces the usage counter', async () => {
  const group = await label('Group', 'cascade');
  const contact = await create({ groupIds: [group], firstName: 'Gone' });
  dataOf(
    await gateway.graphql('mutation ($to: String!) { sendTextMessage(input: { to: $to, text: "hello" }) { id } }', {
      to: contact.phone,
    }),
  );
  const [before] = await counter();
  const deleted = await gateway.graphql(
    'mutation ($id: ID!) { deleteContact(id: $id) { databaseId firstName phone groups { name } } }',
    { id: contact.databaseId },
  );
  expect(dataOf(deleted).deleteContact).toMatchObject({
    databaseId: contact.databaseId,
    firstName: 'Gone',
    phone: contact.phone,
  });
  for (const table of ['messages', 'conversations', 'contact_groups', 'outbox']) {
    expect(
      await gateway.database.query(`select 1 from ${table} where tenant_id = $1 and contact_id = $2`, [
        gateway.tenant.id,
        contact.databaseId,
      ]),
      table,
    ).toEqual([]);
  }
  const [after, there] = await counter();
  expect([after, there]).toEqual([before - 1, before - 1]);
  expect((await eventsOf(contact.databaseId)).slice(-2)).toMatchObject([
    { type: 'contact.deleted', payload: { contact: { firstname: '', phone: null } } },
    { type: 'contact.erased', payload: { contact: { firstname: '' }, receipt: { contact_id: contact.databaseId } } },
  ]);
  expect(codeOf(await update(contact.databaseId, {}))).toBe('NOT_FOUND');
  expect(
    codeOf(await gateway.graphql('mutation ($id: ID!) { deleteContact(id: $id) { id } }', { id: contact.databaseId })),
  ).toBe('NOT_FOUND');
  await create({ phone: contact.phone });
});

test('deleteContacts deletes many contacts, and reports unknown ids once each', async () => {
  const contacts = await Promise.all([create(), create(), create()]);
  const ids = contacts.map(contact => contact.databaseId);
  const answer = await gateway.graphql(
    'mutation ($ids: [ID!]!) { deleteContacts(ids: $ids) { deletedIds notFoundIds } }',
    { ids: [ids[0], ids[1], ids[1], '987654321', '987654321'] },
  );
  expect(dataOf(answer).deleteContacts).toEqual({
    deletedIds: ids.slice(0, 2).sort((a, b) => a - b),
    notFoundIds: [987654321],
  });
  const [counted, there] = await counter();
  expect(counted).toBe(there);
  expect(dataOf(await update(ids[2], {})).updateContact.databaseId).toBe(ids[2]);
});

test.each([
  ['none', []],
  ['1,001', Array.from({ length: 1_001 }, (_, n) => n)],
  ['what is no id', ['x!']],
  ['the id of something else', ['R3JvdXA6MQ']],
])('deleteContacts refuses %s by the field ids', async (_name, ids) => {
  expect(
    faultsOf(await gateway.graphql('mutation ($ids: [ID!]!) { deleteContacts(ids: $ids) { deletedIds } }', { ids })),
  ).toHaveProperty('ids');
});
