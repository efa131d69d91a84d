import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { updateSettings } from '../../../../src/features/tenancy/account/store.ts';
import { changeTenant } from '../../../../src/features/tenancy/tenants/change.ts';
import { createTenant } from '../../../../src/features/tenancy/tenants/create.ts';
import { findTenant, updateTenant } from '../../../../src/features/tenancy/tenants/store.ts';
import { dataOf, userErrorsOf } from '../../../support/answers.ts';
import { startGateway, type TestGateway } from '../../../support/gateway.ts';

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startGateway();
});
afterAll(() => gateway.stop());

const make = (slug: string, plan = 'standard') =>
  gateway.gateway.resources.db.transaction(trx =>
    createTenant(trx, { slug, name: slug.toUpperCase(), plan, windowPolicy: 'refuse' }),
  );

test('the viewer is the token of the call and its tenant', async () => {
  const tenant = await gateway.addTenant({ plan: 'starter', windowPolicy: 'refuse', channel: false });
  const expiresAt = new Date(Date.now() + 3_600_000).toISOString();
  const token = await gateway.addToken(tenant, {
    scopes: ['contacts:read', 'account:read'],
    callsPerMinute: 30,
    expiresAt,
  });
  const answer = await gateway.graphql(
    '{ viewer { scopes callsPerMinute expiresAt account { databaseId subdomain name subscription { planName } limits { apiCallsPerMinute { limit } } settings { windowPolicy } } token { name hint revokedAt } } }',
    {},
    token,
  );
  expect(dataOf(answer).viewer).toEqual({
    scopes: ['ACCOUNT_READ', 'CONTACTS_READ'],
    callsPerMinute: 30,
    expiresAt,
    account: {
      databaseId: String(tenant.id),
      subdomain: tenant.slug,
      name: tenant.slug,
      subscription: { planName: 'starter' },
      limits: { apiCallsPerMinute: { limit: 120 } },
      settings: { windowPolicy: 'REFUSE' },
    },
    token: { name: 'test', hint: token.slice(-4), revokedAt: null },
  });
});

test('a token without any scope to read may still ask who it is', async () => {
  const token = await gateway.addToken(gateway.tenant, { scopes: ['bots:write'] });
  expect(dataOf(await gateway.graphql('{ viewer { scopes } }', {}, token)).viewer.scopes).toEqual(['BOTS_WRITE']);
});

describe('a new tenant', () => {
  test('starts with its plan, its policy and nothing used', async () => {
    expect(await make('acme')).toMatchObject({
      slug: 'acme',
      name: 'ACME',
      status: 'active',
      plan_name: 'standard',
      max_contacts: 50_000,
      contacts: 0,
      window_policy: 'refuse',
    });
  });

  test.each(['', 'Upper', '-front', 'under_score', 'a b', 'ä', 'x'.repeat(64), 'a\n'])(
    'is refused with the slug %j',
    async slug => {
      await expect(make(slug)).rejects.toMatchObject({
        code: 'VALIDATION_ERROR',
        details: { slug: [expect.stringMatching(/^Has 1 to 63 /)] },
      });
    },
  );

  test('is refused when its slug is taken, or its plan is unknown, and leaves nothing behind', async () => {
    await make('twice');
    await expect(make('twice')).rejects.toThrow('There is a tenant twice already.');
    await expect(make('planless', 'gold')).rejects.toThrow(
      /There is no plan gold\. There are starter, standard, unlimited\./,
    );
    expect(await findTenant(gateway.gateway.resources.db.read, 'planless')).toBeUndefined();
  });

  test('of several made at the same time with one slug, one is', async () => {
    const outcomes = await Promise.allSettled(Array.from({ length: 6 }, () => make('race')));
    expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
  });
});

test('a change of a tenant changes what is given and leaves the rest', async () => {
  const { tenant_id: id } = await make('changing');
  const change = async (changes: Parameters<typeof updateTenant>[2]) => {
    await gateway.gateway.resources.db.transaction(trx => updateTenant(trx, id, changes));
    return findTenant(gateway.gateway.resources.db.write, 'changing');
  };
  expect(await change({ name: 'New' })).toMatchObject({
    name: 'New',
    window_policy: 'refuse',
    plan_name: 'standard',
    status: 'active',
  });
  expect(await change({ plan: 'unlimited' })).toMatchObject({
    name: 'New',
    plan_name: 'unlimited',
    max_contacts: null,
  });
  expect(await change({ plan: 'starter' })).toMatchObject({
    plan_name: 'starter',
    max_contacts: 1_000,
  });
});

test("another plan's month begins with what has been used, at once, and a larger one goes on", async () => {
  await gateway.database.query(
    "insert into plans (name, max_messages, calls_per_minute) values ('two-messages', 2, 6000)",
  );
  const tenant = await gateway.addTenant({ plan: 'standard' });
  const change = (plan: string) =>
    gateway.gateway.resources.db.transaction(trx => changeTenant(trx, tenant.id, { plan }));
  const send = () =>
    gateway.graphql(
      'mutation { sendMessage(input: { to: { phone: "+4915177700001" }, content: { text: { body: "Hi" } } }) { message { databaseId } userErrors { code message path ... on LimitError { feature used maximum } } } }',
      {},
      tenant.token,
    );
  for (let index = 0; index < 2; index += 1) dataOf(await send());
  await change('two-messages');
  expect(userErrorsOf(await send())).toMatchObject([
    { code: 'FEATURE_LIMIT_EXCEEDED', feature: 'messages', used: 2, maximum: 2 },
  ]);
  await change('unlimited');
  dataOf(await send());
  await expect(change('gold')).rejects.toThrow(/There is no plan gold/);
});

test('a plan ends at its expiry, and never if the expiry is removed', async () => {
  const { tenant_id: id } = await make('ending');
  const change = async (changes: Parameters<typeof changeTenant>[2]) => {
    await gateway.gateway.resources.db.transaction(trx => changeTenant(trx, id, changes));
    return (await findTenant(gateway.gateway.resources.db.write, 'ending'))?.plan_expires_at;
  };
  expect(await change({ planExpiresAt: '2030-01-31T00:00:00.000Z' })).toBe('2030-01-31T00:00:00.000Z');
  expect(await change({ name: 'Ending' })).toBe('2030-01-31T00:00:00.000Z');
  expect(await change({ planExpiresAt: null })).toBeNull();
});

test('a tenant cannot have the source or status of another as its default', async () => {
  const [mine, theirs] = [await make('mine'), await make('theirs')];
  const [row] = await gateway.database.query<{ id: string }>(
    "insert into sources (tenant_id, name) values ($1, 'x') returning id",
    [theirs.tenant_id],
  );
  await expect(
    gateway.gateway.resources.db.transaction(trx =>
      updateSettings(trx, mine.tenant_id, { default_source_id: Number(row?.id) }),
    ),
  ).rejects.toThrow(/foreign key/);
});

test('the people of a tenant are its own, by name', async () => {
  const other = await gateway.addTenant({ channel: false });
  for (const [tenant, name] of [
    [gateway.tenant, 'Zoe'],
    [gateway.tenant, 'Abe'],
    [other, 'Eve'],
  ] as const) {
    await gateway.database.query('insert into staff (tenant_id, name, email) values ($1, $2, $3)', [
      tenant.id,
      name,
      `${name}@example.com`,
    ]);
  }
  const { staffMembers } = dataOf(await gateway.graphql('{ staffMembers { nodes { id databaseId name email } } }'));
  expect(staffMembers.nodes.map(({ name }: { name: string }) => name)).toEqual(['Abe', 'Zoe']);
  const node = (token?: string) =>
    gateway.graphql(
      'query ($id: ID!) { node(id: $id) { ... on StaffMember { name } } }',
      { id: staffMembers.nodes[0].id },
      token,
    );
  expect(dataOf(await node()).node.name).toBe('Abe');
  expect(dataOf(await node(other.token)).node).toBeNull();
});
