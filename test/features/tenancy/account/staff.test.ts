import { afterAll, beforeAll, expect, test } from 'vitest';
import { COMMAND_LINE } from '../../../../src/features/tenancy/audit/author.ts';
import { addStaff } from '../../../../src/features/tenancy/staff/add.ts';
import { removeStaff } from '../../../../src/features/tenancy/staff/remove.ts';
import { codeOf, dataOf } from '../../../support/answers.ts';
import { startGateway, type TestGateway, type TestTenant } from '../../../support/gateway.ts';

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startGateway({ env: { PARLEY_DATABASE_POOL: '20' } });
  await gateway.database.query(
    "insert into plans (name, max_staff, calls_per_minute) values ('three', 3, 6000), ('none', 0, 6000)",
  );
});
afterAll(() => gateway.stop());

const add = (tenant: TestTenant, email: string, name = 'Ana') =>
  gateway.gateway.resources.db.transaction(trx => addStaff(trx, tenant.id, { name, email }, COMMAND_LINE));
const remove = (tenant: TestTenant, person: string) =>
  removeStaff(gateway.gateway.resources.db, tenant.id, person, COMMAND_LINE);
const staffOf = async (tenant: TestTenant) =>
  dataOf(await gateway.graphql('{ staffMembers { nodes { id databaseId name email } } }', {}, tenant.token))
    .staffMembers.nodes;

test('a person who is added can be assigned, by global id and by databaseId, over GraphQL and REST', async () => {
  const { id } = await add(gateway.tenant, 'ana@example.com');
  const [member] = await staffOf(gateway.tenant);
  expect(member).toEqual({ id: expect.any(String), databaseId: String(id), name: 'Ana', email: 'ana@example.com' });
  const create = (phone: string, assigneeId: unknown) =>
    gateway.graphql(
      'mutation ($input: CreateContactInput!) { createContact(input: $input) { contact { assignee { databaseId email } } } }',
      { input: { phone, assigneeId } },
    );
  for (const [index, given] of [member.id, id, String(id)].entries())
    expect(dataOf(await create(`+491514100000${index}`, given)).createContact.contact).toEqual({
      assignee: { databaseId: String(id), email: 'ana@example.com' },
    });
  const posted = await gateway.rest('POST', '/contacts', { phone: '+4915141000009', assigned_id: id });
  expect(((await posted.json()) as { data: object }).data).toMatchObject({ assigned_id: id });
});

test('of 12 people added at the same time to a plan of 3, exactly 3 are added, and the others get the limit', async () => {
  const tenant = await gateway.addTenant({ plan: 'three', channel: false });
  const outcomes = await Promise.allSettled(
    Array.from({ length: 12 }, (_, index) => add(tenant, `person-${index}@example.com`)),
  );
  expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(3);
  for (const outcome of outcomes)
    if (outcome.status === 'rejected')
      expect(outcome.reason).toMatchObject({
        code: 'FEATURE_LIMIT_EXCEEDED',
        details: { feature: 'staff', current: 3, maximum: 3 },
      });
  expect(await staffOf(tenant)).toHaveLength(3);
  await expect(add(await gateway.addTenant({ plan: 'none', channel: false }), 'a@example.com')).rejects.toMatchObject({
    details: { feature: 'staff', current: 0, maximum: 0 },
  });
});

test('of several people with one e-mail address, in any case and at the same time, one is added', async () => {
  const tenant = await gateway.addTenant({ channel: false });
  const outcomes = await Promise.allSettled(
    ['eve@example.com', 'Eve@Example.com', ' EVE@EXAMPLE.COM ', 'eve@example.com'].map(email => add(tenant, email)),
  );
  expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
  for (const outcome of outcomes)
    if (outcome.status === 'rejected')
      expect(outcome.reason).toMatchObject({
        code: 'VALIDATION_ERROR',
        details: { email: ['Another staff member has this e-mail address.'] },
      });
  await add(await gateway.addTenant({ channel: false }), 'eve@example.com');
});

test.each([
  [{ name: ' ', email: 'a@example.com' }, ['name']],
  [{ name: 'x'.repeat(256), email: 'nobody' }, ['name', 'email']],
  [{ name: 'a\0b', email: '' }, ['name', 'email']],
  [{ name: 'Ana', email: `${'x'.repeat(190)}@example.com` }, ['email']],
])('faults of %j are told by field', async ({ name, email }, fields) => {
  await expect(add(gateway.tenant, email, name)).rejects.toMatchObject({
    code: 'VALIDATION_ERROR',
    details: Object.fromEntries(fields.map(field => [field, [expect.any(String)]])),
  });
});

test('whose person is removed keeps the contacts, assigned to nobody, and every one has its event', async () => {
  const tenant = await gateway.addTenant({ channel: false });
  const [leaving, staying] = [await add(tenant, 'leaving@example.com'), await add(tenant, 'staying@example.com')];
  const contacts = Array.from({ length: 5 }, (_, index) => ({
    phone: `+491514200000${index}`,
    assigneeId: index < 3 ? leaving.id : staying.id,
  }));
  dataOf(
    await gateway.graphql(
      'mutation ($input: CreateContactsInput!) { createContacts(input: $input) { results { outcome } } }',
      { input: { contacts } },
      tenant.token,
    ),
  );
  expect(await remove(tenant, 'LEAVING@example.com')).toEqual({ member: leaving, unassigned: 3 });
  expect((await staffOf(tenant)).map(({ email }: { email: string }) => email)).toEqual(['staying@example.com']);
  const { nodes } = dataOf(
    await gateway.graphql(
      '{ contacts(orderBy: [{ field: ID }]) { nodes { assignee { databaseId } } } }',
      {},
      tenant.token,
    ),
  ).contacts;
  expect(
    nodes.map(({ assignee }: { assignee: { databaseId: string } | null }) => assignee?.databaseId ?? null),
  ).toEqual([null, null, null, String(staying.id), String(staying.id)]);
  const events = await gateway.database.query<{ payload: { previous: object; contact: { assigned_id: unknown } } }>(
    "select payload from events where tenant_id = $1 and type = 'contact.updated'",
    [tenant.id],
  );
  expect(events.map(({ payload }) => [payload.previous, payload.contact.assigned_id])).toEqual(
    Array.from({ length: 3 }, () => [{ assigned_id: leaving.id }, null]),
  );
});

test('contacts and conversations of a person are unassigned in transactions of 500, also over GraphQL', async () => {
  const counts = async (overGraphQL: boolean) => {
    const tenant = await gateway.addTenant({ channel: false });
    const leaving = await add(tenant, 'leaving@example.com');
    await gateway.database.query(
      `insert into contacts (tenant_id, phone, assigned_id) select $1, '+49151' || 43000000 + n, $2 from generate_series(1, 1200) n`,
      [tenant.id, leaving.id],
    );
    if (overGraphQL) dataOf(await gateway.mutate('deleteStaffMember', { id: leaving.id }, 'deletedId', tenant.token));
    else expect(await remove(tenant, leaving.email)).toMatchObject({ unassigned: 1_200 });
    expect(await staffOf(tenant)).toEqual([]);
    const transactions = await gateway.database.query<{ count: number }>(
      `select count(*)::int as count from events where tenant_id = $1 and type = 'contact.updated' group by xid order by 1 desc`,
      [tenant.id],
    );
    return transactions.map(({ count }) => count);
  };
  expect(await counts(false)).toEqual([500, 500, 200]);
  expect(await counts(true)).toEqual([500, 500, 200]);
});

test('nobody of another tenant can be removed or assigned', async () => {
  const [mine, theirs] = [await gateway.addTenant({ channel: false }), await gateway.addTenant({ channel: false })];
  const { id } = await add(theirs, 'theirs@example.com');
  for (const person of [String(id), 'theirs@example.com', 'x', '']) expect(await remove(mine, person)).toBeUndefined();
  expect(await staffOf(theirs)).toHaveLength(1);
  const input = { phone: '+4915143000000', assigneeId: id };
  const answer = await gateway.mutate('createContact', input, 'contact { id }', mine.token);
  expect(codeOf(answer)).toBe('VALIDATION_ERROR');
});
