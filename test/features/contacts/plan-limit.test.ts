import { afterAll, beforeAll, expect, test } from 'vitest';
import { updateTenant } from '../../../src/features/tenancy/tenants/store.ts';
import { codeOf, dataOf } from '../../support/answers.ts';
import { startGateway, type TestGateway, type TestTenant } from '../../support/gateway.ts';
import { newPhone } from '../../support/seed.ts';

let gateway: TestGateway;

beforeAll(async () => {
  gateway = await startGateway({ env: { PARLEY_DATABASE_POOL: '20' } });
  await gateway.database.query(
    "insert into plans (name, max_contacts, calls_per_minute) values ('ten', 10, 6000), ('three', 3, 6000)",
  );
});
afterAll(() => gateway.stop());

const create = (tenant: TestTenant) =>
  gateway.graphql(
    'mutation ($input: CreateContactInput!) { createContact(input: $input) { databaseId } }',
    { input: { phone: newPhone() } },
    tenant.token,
  );
const send = (tenant: TestTenant) =>
  gateway.graphql(
    'mutation ($to: String!) { sendTextMessage(input: { to: $to, text: "hi" }) { contactId } }',
    { to: newPhone() },
    tenant.token,
  );
const batch = (tenant: TestTenant, count: number) => {
  const contacts = Array.from({ length: count }, () => ({ phone: newPhone() }));
  return gateway.graphql(
    'mutation ($input: CreateContactsInput!) { createContacts(input: $input) { created { databaseId } errors { index } } }',
    { input: { contacts } },
    tenant.token,
  );
};
const remove = (tenant: TestTenant, ids: number[]) =>
  gateway.graphql('mutation ($ids: [ID!]!) { deleteContacts(ids: $ids) { deletedIds } }', { ids }, tenant.token);
const changePlan = (tenant: TestTenant, plan: string) =>
  gateway.gateway.resources.db.transaction(trx => updateTenant(trx, tenant.id, { plan }));

/** @returns how many contacts there are, which is also what the counter and the list say */
async function usage(tenant: TestTenant): Promise<number> {
  const [row] = await gateway.database.query<{ counted: number; there: number }>(
    'select contacts::int as counted, (select count(*)::int from contacts where tenant_id = $1) as there from tenant_usage where tenant_id = $1',
    [tenant.id],
  );
  expect(row?.counted).toBe(row?.there);
  expect(dataOf(await gateway.graphql('{ contacts { totalCount } }', {}, tenant.token)).contacts.totalCount).toBe(
    row?.there,
  );
  return row?.there ?? -1;
}

test('of 50 concurrent creations with 10 contacts left in the plan exactly 10 succeed, and the others report the limit', async () => {
  const tenant = await gateway.addTenant({ plan: 'ten' });
  const answers = await Promise.all(Array.from({ length: 50 }, () => create(tenant)));
  expect(answers.filter(({ errors }) => !errors)).toHaveLength(10);
  const refusals = answers.flatMap(({ errors }) => errors ?? []);
  for (const { extensions } of refusals)
    expect(extensions).toEqual({
      code: 'FEATURE_LIMIT_EXCEEDED',
      details: { feature: 'contacts', current: 10, maximum: 10 },
    });
  expect(await usage(tenant)).toBe(10);
});

test('50 concurrent creations over GraphQL and REST together use exactly the last 10 contacts of the plan, with the same error for the rest', async () => {
  const tenant = await gateway.addTenant({ plan: 'ten' });
  const headers = { authorization: `Bearer ${tenant.token}` };
  const post = async () => {
    const answer = await gateway.rest('POST', '/contacts', { phone: newPhone() }, headers);
    const { error } = (await answer.json()) as { error?: { code: string; details: unknown } };
    return { status: answer.status, refusal: error && { code: error.code, details: error.details } };
  };
  const [overGraphQL, overRest] = await Promise.all([
    Promise.all(Array.from({ length: 25 }, () => create(tenant))),
    Promise.all(Array.from({ length: 25 }, post)),
  ]);
  const made =
    overGraphQL.filter(({ errors }) => !errors).length + overRest.filter(({ status }) => status === 201).length;
  expect(made).toBe(10);
  const refusals = [
    ...overGraphQL.flatMap(({ errors }) => errors?.map(({ extensions }) => extensions) ?? []),
    ...overRest.filter(({ status }) => status === 403).flatMap(({ refusal }) => refusal ?? []),
  ];
  expect(refusals).toEqual(
    Array.from({ length: 40 }, () => ({
      code: 'FEATURE_LIMIT_EXCEEDED',
      details: { feature: 'contacts', current: 10, maximum: 10 },
    })),
  );
  expect(await usage(tenant)).toBe(10);
});

test('concurrent batches fill the plan exactly to its limit', async () => {
  const tenant = await gateway.addTenant({ plan: 'ten' });
  const answers = await Promise.all(Array.from({ length: 8 }, () => batch(tenant, 4)));
  const made = answers.map(answer => dataOf(answer).createContacts);
  expect(made.reduce((sum, { created }) => sum + created.length, 0)).toBe(10);
  expect(made.reduce((sum, { errors }) => sum + errors.length, 0)).toBe(22);
  expect(await usage(tenant)).toBe(10);
});

test('concurrent creations, batches and sends to new numbers never exceed the limit, and the counter stays exact', async () => {
  const tenant = await gateway.addTenant({ plan: 'ten' });
  const calls = Array.from({ length: 36 }, (_, n) =>
    n % 3 === 0 ? create(tenant) : n % 3 === 1 ? send(tenant) : batch(tenant, 2),
  );
  const answers = await Promise.all(calls);
  for (const answer of answers) expect([undefined, 'FEATURE_LIMIT_EXCEEDED']).toContain(codeOf(answer));
  expect(await usage(tenant)).toBe(10);
  expect(codeOf(await send(tenant))).toBe('FEATURE_LIMIT_EXCEEDED');
  const [messages] = await gateway.database.query<{ n: number }>(
    'select count(*)::int as n from messages where tenant_id = $1',
    [tenant.id],
  );
  expect(messages?.n).toBe(answers.filter(({ data }) => data?.sendTextMessage).length);
});

test('concurrent creations and deletions leave the counter exact', async () => {
  const tenant = await gateway.addTenant({ plan: 'ten' });
  const ids: number[] = dataOf(await batch(tenant, 8)).createContacts.created.map(
    (contact: { databaseId: number }) => contact.databaseId,
  );
  const calls = [
    ...ids.map(id => remove(tenant, [id])),
    ...ids.map(() => create(tenant)),
    remove(tenant, ids),
    batch(tenant, 3),
    remove(tenant, [...ids].reverse()),
  ];
  for (const answer of await Promise.all(calls))
    expect([undefined, 'FEATURE_LIMIT_EXCEEDED']).toContain(codeOf(answer));
  expect(await usage(tenant)).toBeLessThanOrEqual(10);
});

test('a downgrade deletes nothing, and allows no new contact until usage is below the limit', async () => {
  const tenant = await gateway.addTenant({ plan: 'ten' });
  const ids: number[] = dataOf(await batch(tenant, 5)).createContacts.created.map(
    (contact: { databaseId: number }) => contact.databaseId,
  );
  await changePlan(tenant, 'three');
  expect(await usage(tenant)).toBe(5);
  for (const attempt of [create(tenant), send(tenant)]) expect(codeOf(await attempt)).toBe('FEATURE_LIMIT_EXCEEDED');
  expect(dataOf(await batch(tenant, 1)).createContacts.created).toEqual([]);
  dataOf(await remove(tenant, ids.slice(0, 2)));
  expect(codeOf(await create(tenant)), 'three of three').toBe('FEATURE_LIMIT_EXCEEDED');
  dataOf(await remove(tenant, ids.slice(2, 3)));
  dataOf(await create(tenant));
  expect(codeOf(await create(tenant)), 'three of three again').toBe('FEATURE_LIMIT_EXCEEDED');
  expect(codeOf(await send(tenant))).toBe('FEATURE_LIMIT_EXCEEDED');
  await changePlan(tenant, 'unlimited');
  expect(dataOf(await batch(tenant, 20)).createContacts.created).toHaveLength(20);
  expect(await usage(tenant)).toBe(23);
});

test('an inbound message creates a contact beyond the plan’s limit; the next creation by the tenant is rejected', async () => {
  const tenant = await gateway.addTenant({ plan: 'three' });
  dataOf(await batch(tenant, 3));
  gateway.emulator.inbound({
    from: '+14155559999',
    text: 'Hi',
    profileName: `${'x'.repeat(254)}👍 tail`,
    phoneNumberId: tenant.phoneNumberId,
  });
  await expect.poll(() => usage(tenant)).toBe(4);
  expect(codeOf(await create(tenant))).toBe('FEATURE_LIMIT_EXCEEDED');
  expect(
    dataOf(await gateway.graphql('{ contacts(search: "4155559999") { nodes { firstName } } }', {}, tenant.token))
      .contacts.nodes,
  ).toEqual([{ firstName: `${'x'.repeat(254)}👍` }]);
});

test('an unlimited plan has no limit', async () => {
  const tenant = await gateway.addTenant({ plan: 'unlimited' });
  dataOf(await create(tenant));
  expect(dataOf(await batch(tenant, 30)).createContacts.created).toHaveLength(30);
  dataOf(await send(tenant));
  expect(await usage(tenant)).toBe(32);
});
