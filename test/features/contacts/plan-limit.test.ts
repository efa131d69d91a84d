import { afterAll, beforeAll, expect, test } from 'vitest';
import { updateTenant } from '../../../src/features/tenancy/tenants/store.ts';
import { codeOf, dataOf, payloadOf, userErrorsOf } from '../../support/answers.ts';
import { type GraphQLAnswer, startGateway, type TestGateway, type TestTenant } from '../../support/gateway.ts';
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
  gateway.mutate(
    'createContact',
    { phone: newPhone() },
    'contact { databaseId } limits: userErrors { ... on LimitError { feature used maximum } }',
    tenant.token,
  );
/** How a creation was refused, as REST says it; nothing when it was not. */
const refusalsOf = (answer: GraphQLAnswer) =>
  userErrorsOf(answer).map(({ code }, nth) => {
    const { feature, used, maximum } = answer.data.createContact.limits[nth];
    return { code, details: { feature, current: Number(used), maximum: Number(maximum) } };
  });
const isMade = (answer: GraphQLAnswer): boolean => codeOf(answer) === undefined;
const send = (tenant: TestTenant) =>
  gateway.graphql(
    'mutation ($to: String!) { sendMessage(input: { to: { phone: $to }, content: { text: { body: "hi" } } }) { message { databaseId } userErrors { code message path } } }',
    { to: newPhone() },
    tenant.token,
  );
const batch = (tenant: TestTenant, count: number) => {
  const contacts = Array.from({ length: count }, () => ({ phone: newPhone() }));
  return gateway.mutate('createContacts', { contacts }, 'results { outcome contact { databaseId } }', tenant.token);
};
/** The ids of the contacts that a batch created. */
const createdBy = (answer: GraphQLAnswer): string[] =>
  payloadOf(answer).results.flatMap(
    ({ contact }: { contact: { databaseId: string } | null }) => contact?.databaseId ?? [],
  );
const remove = (tenant: TestTenant, ids: string[]) =>
  gateway.mutate('deleteContacts', { ids }, 'deletedIds', tenant.token);
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
  expect(answers.filter(isMade)).toHaveLength(10);
  expect(answers.flatMap(refusalsOf)).toEqual(
    Array.from({ length: 40 }, () => ({
      code: 'FEATURE_LIMIT_EXCEEDED',
      details: { feature: 'contacts', current: 10, maximum: 10 },
    })),
  );
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
  const made = overGraphQL.filter(isMade).length + overRest.filter(({ status }) => status === 201).length;
  expect(made).toBe(10);
  const refusals = [
    ...overGraphQL.flatMap(refusalsOf),
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
  const outcomes = answers.flatMap(answer =>
    payloadOf(answer).results.map(({ outcome }: { outcome: string }) => outcome),
  );
  expect(outcomes.filter(outcome => outcome === 'CREATED')).toHaveLength(10);
  expect(outcomes.filter(outcome => outcome === 'FAILED')).toHaveLength(22);
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
  expect(messages?.n).toBe(answers.filter(({ data }) => data?.sendMessage?.message).length);
});

test('concurrent creations and deletions leave the counter exact', async () => {
  const tenant = await gateway.addTenant({ plan: 'ten' });
  const ids = createdBy(await batch(tenant, 8));
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
  const ids = createdBy(await batch(tenant, 5));
  await changePlan(tenant, 'three');
  expect(await usage(tenant)).toBe(5);
  for (const attempt of [create(tenant), send(tenant)]) expect(codeOf(await attempt)).toBe('FEATURE_LIMIT_EXCEEDED');
  expect(createdBy(await batch(tenant, 1))).toEqual([]);
  dataOf(await remove(tenant, ids.slice(0, 2)));
  expect(codeOf(await create(tenant)), 'three of three').toBe('FEATURE_LIMIT_EXCEEDED');
  dataOf(await remove(tenant, ids.slice(2, 3)));
  dataOf(await create(tenant));
  expect(codeOf(await create(tenant)), 'three of three again').toBe('FEATURE_LIMIT_EXCEEDED');
  expect(codeOf(await send(tenant))).toBe('FEATURE_LIMIT_EXCEEDED');
  await changePlan(tenant, 'unlimited');
  expect(createdBy(await batch(tenant, 20))).toHaveLength(20);
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
  expect(createdBy(await batch(tenant, 30))).toHaveLength(30);
  dataOf(await send(tenant));
  expect(await usage(tenant)).toBe(32);
});
