import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { encodeGlobalId } from '../../../src/core/global-ids.ts';
import { codeOf, dataOf, faultsOf, payloadOf } from '../../support/answers.ts';
import { eventually, startGateway, type TestGateway } from '../../support/gateway.ts';
import { newPhone, seedOf } from '../../support/seed.ts';

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startGateway();
});
afterAll(() => gateway.stop());

const FIELDS = `databaseId firstName lastName type email phone company description address city state zip country { numericCode } timeZone
  isOptedOut optedOutAt updatedAt source { name } status { name } assignee { name } groups { name }`;
const create = async (input: object = {}) =>
  payloadOf(await gateway.mutate('createContact', { phone: newPhone(), ...input }, `contact { ${FIELDS} }`)).contact;
const update = (id: string, input: object) =>
  gateway.mutate('updateContact', { id, ...input }, `contact { ${FIELDS} }`);
const label = (type: 'Group' | 'Source' | 'Status', name?: string) => seedOf(gateway).label(type, name);

interface EventRow {
  readonly [column: string]: unknown;
  readonly type: string;
  readonly payload: { readonly contact: Record<string, unknown>; readonly previous?: Record<string, unknown> };
}
const eventsOf = (id: string): Promise<EventRow[]> =>
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
  country: 'DE',
  timeZone: 'Europe/Berlin',
  sourceId: await label('Source'),
  statusId: await label('Status'),
  groupIds: [await label('Group')],
});

test('omitted fields keep their values', async () => {
  const { updatedAt: _, ...before } = await create(await everything());
  const { updatedAt: __, ...after } = dataOf(await update(before.databaseId, {})).updateContact.contact;
  expect(after).toEqual(before);
});

test('null clears every optional field', async () => {
  const { databaseId, phone } = await create(await everything());
  const nothing = Object.fromEntries(
    Object.keys(await everything())
      .filter(name => name !== 'type')
      .map(name => [name, null]),
  );
  expect(dataOf(await update(databaseId, nothing)).updateContact.contact).toMatchObject({
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
    timeZone: null,
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
  expect(dataOf(await update(two.databaseId, {})).updateContact.contact).toMatchObject({
    firstName: null,
    phone: two.phone,
    email: 'two@example.com',
  });
  expect((await eventsOf(two.databaseId)).map(event => event.type)).toEqual(['contact.created']);
});

test('a contact may be given its own number and address in another spelling', async () => {
  const contact = await create({ phone: '+52 55 9999 0001', email: 'own@example.com' });
  expect(
    dataOf(await update(contact.databaseId, { phone: '+521 55 9999 0001', email: 'OWN@example.com' })).updateContact
      .contact,
  ).toMatchObject({ phone: '+525599990001', email: 'OWN@example.com' });
});

test('groupIds replaces the groups of a contact, adding and removing', async () => {
  const [a, b, c] = [await label('Group', 'exact a'), await label('Group', 'exact b'), await label('Group', 'exact c')];
  const contact = await create({ groupIds: [a, b] });
  const groupsAfter = async (groupIds: number[]) =>
    dataOf(await update(contact.databaseId, { groupIds })).updateContact.contact.groups.map(
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
    first: updateContact(input: { id: $id, groupIds: [${a}] }) { contact { groups { name contactsCount } source { name } } }
    rename: updateContactSource(input: { id: $source, name: "${renamed}" }) { contactSource { name } }
    second: updateContact(input: { id: $id, groupIds: [${a}, ${b}] }) { contact { groups { name contactsCount } source { name } } }
    third: updateContact(input: { id: $id, groupIds: [] }) { contact { groups { name } } }
  }`;
  expect(dataOf(await gateway.graphql(document, { id, source }))).toEqual({
    first: { contact: { groups: [{ name: 'turn a', contactsCount: 1 }], source: { name: 'turn source' } } },
    rename: { contactSource: { name: renamed } },
    second: {
      contact: {
        groups: [
          { name: 'turn a', contactsCount: 1 },
          { name: 'turn b', contactsCount: 1 },
        ],
        source: { name: renamed },
      },
    },
    third: { contact: { groups: [] } },
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
  const opt = async (isOptedOut: boolean) => dataOf(await update(id, { isOptedOut })).updateContact.contact;
  const out = await opt(true);
  expect(out).toMatchObject({ isOptedOut: true, optedOutAt: expect.any(String) });
  expect((await opt(true)).optedOutAt).toBe(out.optedOutAt);
  expect(faultsOf(await update(id, { isOptedOut: null }))).toHaveProperty('isOptedOut');
  expect((await opt(true)).optedOutAt).toBe(out.optedOutAt);
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
  expect(dataOf(await update(id, {})).updateContact.contact).toMatchObject(Object.assign({}, ...inputs));
  expect((await eventsOf(id)).filter(event => event.type === 'contact.updated')).toHaveLength(inputs.length);
});

test('deleting a contact deletes its messages, conversations, memberships and queued sends, returns its id, and reduces the usage counter', async () => {
  const group = await label('Group', 'cascade');
  const contact = await create({ groupIds: [group], firstName: 'Gone' });
  dataOf(
    await gateway.graphql(
      'mutation ($to: String!) { sendMessage(input: { to: { phone: $to }, content: { text: { body: "hello" } } }) { message { id } userErrors { code message path } } }',
      {
        to: contact.phone,
      },
    ),
  );
  const [before] = await counter();
  const remove = () => gateway.mutate('deleteContact', { id: contact.databaseId }, 'deletedId');
  expect(payloadOf(await remove()).deletedId).toBe(encodeGlobalId('Contact', gateway.tenant.id, contact.databaseId));
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
    {
      type: 'contact.erased',
      payload: { contact: { firstname: '' }, receipt: { contact_id: Number(contact.databaseId) } },
    },
  ]);
  expect(codeOf(await update(contact.databaseId, {}))).toBe('NOT_FOUND');
  expect(codeOf(await remove())).toBe('NOT_FOUND');
  await create({ phone: contact.phone });
});

const removeAll = (ids: readonly unknown[], options: object = {}) =>
  gateway.mutate(
    'deleteContacts',
    { ids, ...options },
    'summary { total succeeded failed isRolledBack } results { index outcome userErrors { code path } } deletedIds',
  );

test('deleteContacts deletes many contacts, and reports unknown ids', async () => {
  const contacts = await Promise.all([create(), create(), create()]);
  const ids = contacts.map(contact => contact.databaseId);
  const global = (id: unknown) => encodeGlobalId('Contact', gateway.tenant.id, String(id));
  const answer = payloadOf(await removeAll([ids[0], ids[1], ids[1], '987654321', 'x!', 'R3JvdXA6MQ']));
  expect({ ...answer, deletedIds: answer.deletedIds.sort() }).toMatchObject({
    summary: { total: 6, succeeded: 3, failed: 3, isRolledBack: false },
    results: [
      { index: 0, outcome: 'DELETED', userErrors: [] },
      { index: 1, outcome: 'DELETED', userErrors: [] },
      { index: 2, outcome: 'DELETED', userErrors: [] },
      { index: 3, outcome: 'FAILED', userErrors: [{ code: 'NOT_FOUND', path: ['ids', '3'] }] },
      { index: 4, outcome: 'FAILED', userErrors: [{ code: 'NOT_FOUND', path: ['ids', '4'] }] },
      { index: 5, outcome: 'FAILED', userErrors: [{ code: 'NOT_FOUND', path: ['ids', '5'] }] },
    ],
    deletedIds: [global(ids[0]), global(ids[1])].sort(),
  });
  const [counted, there] = await counter();
  expect(counted).toBe(there);
  expect(dataOf(await update(ids[2], {})).updateContact.contact.databaseId).toBe(ids[2]);
});

test('deleteContacts deletes nothing in a dry run, or when it rolls back for an unknown id', async () => {
  const { databaseId: id } = await create();
  expect(payloadOf(await removeAll([id], { isDryRun: true }))).toMatchObject({
    results: [{ outcome: 'DELETED' }],
    deletedIds: [],
  });
  expect(payloadOf(await removeAll([id, '987654321'], { onError: 'ROLL_BACK' }))).toMatchObject({
    summary: { isRolledBack: true, succeeded: 0 },
    results: [{ outcome: 'ROLLED_BACK' }, { outcome: 'FAILED' }],
    deletedIds: [],
  });
  expect(codeOf(await update(id, {}))).toBeUndefined();
});

test('a repeated deletion under one key returns the same ids, and deletes nothing else', async () => {
  const { databaseId: id } = await create();
  const first = await removeAll([id], { idempotencyKey: 'deletion' });
  const again = await removeAll([id], { idempotencyKey: 'deletion' });
  expect(payloadOf(again)).toEqual(payloadOf(first));
  expect(again.extensions).toEqual({ idempotencyReplayed: true });
});

test('a repeated deletion that is to be rolled back for an unknown id is answered as the first, though its contacts are gone', async () => {
  const ids = [(await create()).databaseId, (await create()).databaseId];
  const removeOnce = () => removeAll(ids, { onError: 'ROLL_BACK', idempotencyKey: 'all or none' });
  const first = payloadOf(await removeOnce());
  expect(first).toMatchObject({
    summary: { succeeded: 2, isRolledBack: false },
    deletedIds: [expect.any(String), expect.any(String)],
  });
  const again = await removeOnce();
  expect(payloadOf(again)).toEqual(first);
  expect(again.extensions).toEqual({ idempotencyReplayed: true });
});

test('a deletion that was rolled back for an unknown id does not use up its key', async () => {
  const { databaseId: id } = await create();
  const removeOnce = (ids: readonly unknown[]) => removeAll(ids, { onError: 'ROLL_BACK', idempotencyKey: 'undone' });
  for (const answer of [await removeOnce([id, '987654321']), await removeOnce([id, '987654321'])]) {
    expect(payloadOf(answer).summary).toMatchObject({ isRolledBack: true, succeeded: 0 });
    expect(answer.extensions).toBeUndefined();
  }
  expect(payloadOf(await removeOnce([id])).summary).toMatchObject({ isRolledBack: false, succeeded: 1 });
});

test.each([
  ['none', []],
  ['1,001', Array.from({ length: 1_001 }, (_, n) => n)],
])('deleteContacts refuses %s by the field ids', async (_name, ids) =>
  expect(faultsOf(await removeAll(ids))).toHaveProperty('ids'),
);

test('a change of a contact that changed since it was read is a conflict with the contact as it is', async () => {
  const { databaseId: id, updatedAt } = await create();
  const selection = 'userErrors { ... on ConflictError { current { ... on Contact { databaseId city } } } }';
  const change = (city: string, unchangedSince: string) =>
    gateway.mutate('updateContact', { id, city, unchangedSince }, `contact { updatedAt } ${selection}`);
  await eventually(() => expect(Date.now()).toBeGreaterThan(Date.parse(updatedAt)));
  const { contact } = payloadOf(await change('Rome', updatedAt));
  const late = await change('Oslo', updatedAt);
  expect(codeOf(late)).toBe('CONFLICT');
  expect(late.data.updateContact.userErrors[0].current).toEqual({ databaseId: id, city: 'Rome' });
  const remove = (unchangedSince: string) => gateway.mutate('deleteContact', { id, unchangedSince }, 'deletedId');
  expect(codeOf(await remove(updatedAt))).toBe('CONFLICT');
  expect(codeOf(await remove(contact.updatedAt))).toBeUndefined();
});

describe('updateContacts', () => {
  const updateAll = (ids: readonly unknown[], set: object, options: object = {}) =>
    gateway.mutate(
      'updateContacts',
      { ids, set, ...options },
      'summary { succeeded failed isRolledBack } results { outcome contact { city groups { name } } userErrors { code path } }',
    );

  test('sets the same values for all contacts, and reports unknown ids', async () => {
    const [a, b] = [await create({ city: 'Rome' }), await create()];
    const group = await label('Group', 'all of them');
    const answer = payloadOf(
      await updateAll([b.databaseId, '987654321', a.databaseId], { city: 'Oslo', groupIds: [group] }),
    );
    const contact = { city: 'Oslo', groups: [{ name: 'all of them' }] };
    expect(answer).toMatchObject({
      summary: { succeeded: 2, failed: 1, isRolledBack: false },
      results: [
        { outcome: 'UPDATED', contact },
        { outcome: 'FAILED', contact: null, userErrors: [{ code: 'NOT_FOUND', path: ['ids', '1'] }] },
        { outcome: 'UPDATED', contact },
      ],
    });
    expect((await eventsOf(a.databaseId)).at(-1)?.payload.previous).toEqual({ city: 'Rome' });
  });

  test('rolls back for an unknown id if requested', async () => {
    const { databaseId: id } = await create({ city: 'Rome' });
    const answer = payloadOf(await updateAll([id, '987654321'], { city: 'Oslo' }, { onError: 'ROLL_BACK' }));
    expect(answer).toMatchObject({
      summary: { succeeded: 0, failed: 2, isRolledBack: true },
      results: [
        { outcome: 'ROLLED_BACK', contact: null, userErrors: [{ code: 'ROLLED_BACK' }] },
        { outcome: 'FAILED' },
      ],
    });
    expect(payloadOf(await update(id, {})).contact.city).toBe('Rome');
  });

  test('refuses unique fields, unknown references and too many ids, all at once', async () => {
    const { databaseId: id } = await create();
    expect(
      faultsOf(await updateAll([], { phone: newPhone(), email: 'a@example.com', zip: 'x'.repeat(21) })),
    ).toMatchObject({
      ids: [expect.any(String)],
      'set.phone': [expect.any(String)],
      'set.email': [expect.any(String)],
      'set.zip': [expect.any(String)],
    });
    expect(faultsOf(await updateAll([id], { sourceId: '999999' }))).toHaveProperty(['set.sourceId']);
  });
});
