import pg from 'pg';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import { codeOf, dataOf, faultsOf, payloadOf } from '../../support/answers.ts';
import { eventually, type GraphQLAnswer, startGateway, type TestGateway } from '../../support/gateway.ts';
import { newPhone, seedOf } from '../../support/seed.ts';

/** Races between a read and the following write: a second transaction is held open in between. */

let gateway: TestGateway;
let bystander: pg.Client;

beforeAll(async () => {
  gateway = await startGateway({ env: { PARLEY_DATABASE_POOL: '12' } });
});
afterAll(() => gateway.stop());
beforeEach(async () => {
  bystander = new pg.Client({ connectionString: gateway.database.url });
  await bystander.connect();
});
afterEach(() => bystander.end());

const create = (input: object) =>
  gateway.mutate('createContact', { phone: newPhone(), ...input }, 'contact { databaseId }');
const update = (input: object) => gateway.mutate('updateContact', input, 'contact { id }');
const addToGroup = (groupId: number, contactIds: string[]) =>
  gateway.mutate('addContactsToGroup', { groupId, contactIds }, 'changedCount');
const remove = (ids: string[]) => gateway.mutate('deleteContacts', { ids }, 'deletedIds');
const label = (type: string): Promise<number> => seedOf(gateway).label(type as 'Group');

/** Runs a statement in an open transaction, sends a request that has to wait for it, and commits. */
async function during(statement: string, request: () => Promise<GraphQLAnswer>): Promise<GraphQLAnswer> {
  await bystander.query('begin');
  await bystander.query(statement);
  const answer = request();
  await eventually(async () => {
    const waiting = await gateway.database.query(
      "select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'",
    );
    expect(waiting).not.toEqual([]);
  });
  await bystander.query('commit');
  return answer;
}

test.each([
  ['Source', 'sources', 'sourceId'],
  ['Status', 'statuses', 'statusId'],
])('a %s that is deleted while a contact is made with it does not exist', async (type, table, field) => {
  const id = await label(type);
  expect(
    Object.keys(faultsOf(await during(`delete from ${table} where id = ${id}`, () => create({ [field]: id })))),
  ).toEqual([field]);
});

test('adding a contact to a concurrently deleted group fails with “does not exist”', async () => {
  const [one, two, three] = [await label('Group'), await label('Group'), await label('Group')];
  expect(
    faultsOf(await during(`delete from groups where id = ${one}`, () => create({ groupIds: [one] }))),
  ).toHaveProperty('groupIds');
  const { databaseId } = payloadOf(await create({})).contact;
  const change = () => update({ id: databaseId, groupIds: [two] });
  expect(faultsOf(await during(`delete from groups where id = ${two}`, change))).toHaveProperty('groupIds');
  const add = () => addToGroup(three, [databaseId]);
  expect(codeOf(await during(`delete from groups where id = ${three}`, add))).toBe('NOT_FOUND');
});

test('adding a concurrently deleted contact to a group is rejected', async () => {
  const group = await label('Group');
  const { databaseId } = payloadOf(await create({})).contact;
  const add = () => addToGroup(group, [databaseId]);
  expect(faultsOf(await during(`delete from contacts where id = ${databaseId}`, add))).toHaveProperty('contactIds');
});

test.each([
  ['Source', 'sources', 'source_id'],
  ['Status', 'statuses', 'status_id'],
])('a %s that a contact begins to use while it is deleted is in use', async (type, table, column) => {
  const id = await label(type);
  const phone = newPhone();
  const insert = `insert into contacts (tenant_id, phone, phone_key, ${column}) values (${gateway.tenant.id}, '${phone}', '${phone.slice(1)}', ${id})`;
  const answer = await during(insert, () => gateway.mutate(`deleteContact${type}`, { id }, 'deletedId'));
  expect(codeOf(answer)).toBe('CONFLICT');
  expect(answer.data[`deleteContact${type}`].deletedId).toBeNull();
  expect(await gateway.database.query(`select id from ${table} where id = ${id}`)).toHaveLength(1);
});

test('a number concurrently taken by another request is a duplicate, on creation and on update', async () => {
  const { databaseId } = payloadOf(await create({})).contact;
  const taken = (phone: string): string =>
    `insert into contacts (tenant_id, phone, phone_key) values (${gateway.tenant.id}, '${phone}', '${phone.slice(1)}')`;
  const [first, second] = [newPhone(), newPhone()];
  expect(faultsOf(await during(taken(first), () => create({ phone: first })))).toHaveProperty('phone');
  const change = () => update({ id: databaseId, phone: second });
  expect(faultsOf(await during(taken(second), change))).toHaveProperty('phone');
});

test('updating a concurrently deleted contact is NOT_FOUND', async () => {
  const { databaseId } = payloadOf(await create({})).contact;
  const change = () => update({ id: databaseId, city: 'X' });
  expect(codeOf(await during(`delete from contacts where id = ${databaseId}`, change))).toBe('NOT_FOUND');
});

test('concurrent deletions and creations of the same contacts do not deadlock', async () => {
  const phones = Array.from({ length: 6 }, newPhone);
  for (let round = 0; round < 4; round += 1) {
    const made = await Promise.all(phones.map(phone => create({ phone })));
    const { contacts } = dataOf(
      await gateway.graphql(
        'query ($in: [String!]) { contacts(filter: { phone: { in: $in } }) { nodes { databaseId } } }',
        { in: phones },
      ),
    );
    const ids: string[] = contacts.nodes.map((contact: { databaseId: string }) => contact.databaseId);
    const answers = await Promise.all([
      ...phones.map(phone => create({ phone })),
      remove(ids),
      remove([...ids].reverse()),
      ...ids.map(id => update({ id, city: 'X' })),
      ...phones.map(phone => create({ phone })),
    ]);
    for (const answer of [...made, ...answers])
      expect([undefined, 'VALIDATION_ERROR', 'NOT_FOUND']).toContain(codeOf(answer));
  }
});

test('inbound messages concurrent with creations of the same numbers find the contacts and do not deadlock', async () => {
  const phones = Array.from({ length: 10 }, (_, n) => `+1415555${2_000 + n}`);
  const answers = await Promise.all(
    phones.flatMap((from, n) => {
      gateway.emulator.inbound({ from, text: 'Hi', phoneNumberId: gateway.tenant.phoneNumberId });
      return [create({ phone: from }), ...(n % 2 ? [create({ phone: from })] : [])];
    }),
  );
  for (const answer of answers) expect([undefined, 'VALIDATION_ERROR']).toContain(codeOf(answer));
  await eventually(async () => {
    const { messages } = dataOf(
      await gateway.graphql(
        '{ messages(first: 100, filter: { direction: { eq: INBOUND } }) { totalCount nodes { phone } } }',
      ),
    );
    expect(messages.totalCount).toBe(phones.length);
    expect(messages.nodes.map((message: { phone: string }) => message.phone).sort()).toEqual(phones);
  });
});
