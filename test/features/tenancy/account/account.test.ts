import { afterAll, beforeAll, expect, test } from 'vitest';
import { requireFeature } from '../../../../src/core/plan-features.ts';
import { changeTenant } from '../../../../src/features/tenancy/tenants/change.ts';
import { monthOf } from '../../../../src/features/tenancy/usage/usage.ts';
import { codeOf, dataOf } from '../../../support/answers.ts';
import { startGateway, type TestGateway, type TestTenant } from '../../../support/gateway.ts';

/** A clock that stands a second before a month ends. */
const today = new Date();
const nextMonth = Date.UTC(today.getUTCFullYear(), today.getUTCMonth() + 1);
const clock = { time: nextMonth - 1_000, now: () => clock.time };
const iso = (time: number): string => new Date(time).toISOString();

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startGateway({ role: 'gateway', clock });
  await gateway.database.query(
    `insert into plans (name, max_contacts, max_conversations, max_messages, max_staff, calls_per_minute, features)
     values ('tiny', 3, 0, 300, 2, 6000, '{otp,media}')`,
  );
});
afterAll(() => gateway.stop());

const COUNTER = '{ current limit remaining percentageUsed isUnlimited }';
const USAGE = `{ periodStart periodEnd contacts ${COUNTER} conversations ${COUNTER} messages ${COUNTER} staff ${COUNTER} }`;
const LIMIT = '{ featureName limit isUnlimited }';
const LIMITS = `{ contacts ${LIMIT} conversations ${LIMIT} messages ${LIMIT} staff ${LIMIT} apiCallsPerMinute ${LIMIT}
  features { bots integrations interactive media otp templates webhooks } }`;

const ask = async (query: string, tenant: TestTenant) => dataOf(await gateway.graphql(query, {}, tenant.token));

const count = (tenant: TestTenant, time: number, messages: number, conversations: number) =>
  gateway.database.query(
    `insert into monthly_usage as u (tenant_id, month, messages, conversations) values ($1, $2, $3, $4)
     on conflict (tenant_id, month) do update set messages = u.messages + excluded.messages, conversations = u.conversations + excluded.conversations`,
    [tenant.id, monthOf(time), messages, conversations],
  );

const unlimited = (current: number) => ({
  current,
  limit: null,
  remaining: null,
  percentageUsed: null,
  isUnlimited: true,
});

test('an account says who it is, its plan, what it uses and what it may, in one statement', async () => {
  const tenant = await gateway.addTenant({ plan: 'tiny', channel: false });
  await ask('mutation { createContact(input: { phone: "+4915140000001" }) { contact { id } } }', tenant);
  await gateway.database.query("insert into staff (tenant_id, name, email) values ($1, 'Ana', 'ana@example.com')", [
    tenant.id,
  ]);
  await count(tenant, clock.time, 70, 0);
  await count(tenant, clock.time, 31, 0);
  await ask('{ viewer { scopes } }', tenant);
  gateway.statements.length = 0;
  const { account } = await ask(
    `{ account { id databaseId name subdomain status createdAt subscription { planId planName status expiresAt } usage ${USAGE} limits ${LIMITS} } }`,
    tenant,
  );
  // The tailer of the event log reads beside.
  expect(
    gateway.statements.filter(text => !/\b(events|lanes|lane_processes|pg_current_snapshot)\b/.test(text)),
  ).toHaveLength(1);
  expect(account).toEqual({
    id: expect.any(String),
    databaseId: String(tenant.id),
    name: tenant.slug,
    subdomain: tenant.slug,
    status: 'ACTIVE',
    createdAt: expect.stringMatching(/^\d{4}-.*Z$/),
    subscription: { planId: expect.any(Number), planName: 'tiny', status: 'ACTIVE', expiresAt: null },
    usage: {
      periodStart: `${monthOf(clock.time)}T00:00:00.000Z`,
      periodEnd: iso(nextMonth),
      contacts: { current: 1, limit: 3, remaining: 2, percentageUsed: 33.33, isUnlimited: false },
      conversations: { current: 0, limit: 0, remaining: 0, percentageUsed: 100, isUnlimited: false },
      messages: { current: 101, limit: 300, remaining: 199, percentageUsed: 33.67, isUnlimited: false },
      staff: { current: 1, limit: 2, remaining: 1, percentageUsed: 50, isUnlimited: false },
    },
    limits: {
      contacts: { featureName: 'contacts', limit: 3, isUnlimited: false },
      conversations: { featureName: 'conversations', limit: 0, isUnlimited: false },
      messages: { featureName: 'messages', limit: 300, isUnlimited: false },
      staff: { featureName: 'staff', limit: 2, isUnlimited: false },
      apiCallsPerMinute: { featureName: 'api_calls_per_minute', limit: 6_000, isUnlimited: false },
      features: {
        bots: false,
        integrations: false,
        interactive: false,
        media: true,
        otp: true,
        templates: false,
        webhooks: false,
      },
    },
  });
  expect((await ask(`{ account { usage ${USAGE} limits ${LIMITS} } }`, tenant)).account).toEqual({
    usage: account.usage,
    limits: account.limits,
  });
  expect((await ask(`{ node(id: "${account.id}") { ... on Account { subdomain } } }`, tenant)).node.subdomain).toBe(
    tenant.slug,
  );
});

test('an unlimited plan has null for its limits, and no percentage', async () => {
  const tenant = await gateway.addTenant({ plan: 'unlimited', channel: false });
  const { usage, limits } = (await ask(`{ account { usage ${USAGE} limits ${LIMITS} } }`, tenant)).account;
  for (const feature of ['contacts', 'conversations', 'messages', 'staff']) {
    expect(usage[feature]).toEqual(unlimited(0));
    expect(limits[feature]).toEqual({ featureName: feature, limit: null, isUnlimited: true });
  }
  expect(Object.values(limits.features)).toEqual(Array.from({ length: 7 }, () => true));
});

test('what is used beyond the plan leaves nothing remaining, never less', async () => {
  const tenant = await gateway.addTenant({ plan: 'unlimited', channel: false });
  for (let index = 0; index < 6; index += 1)
    await ask(`mutation { createContact(input: { phone: "+491514000010${index}" }) { contact { id } } }`, tenant);
  await count(tenant, clock.time, 450, 0);
  await gateway.gateway.resources.db.transaction(trx => changeTenant(trx, tenant.id, { plan: 'tiny' }));
  const { usage } = (await ask(`{ account { usage ${USAGE} } }`, tenant)).account;
  expect(usage.contacts).toEqual({ current: 6, limit: 3, remaining: 0, percentageUsed: 200, isUnlimited: false });
  expect(usage.messages).toEqual({ current: 450, limit: 300, remaining: 0, percentageUsed: 150, isUnlimited: false });
});

test('when the month ends, UTC, conversations and messages begin at 0, and contacts stay', async () => {
  const tenant = await gateway.addTenant({ plan: 'standard', channel: false });
  await ask('mutation { createContact(input: { phone: "+4915140000201" }) { contact { id } } }', tenant);
  await count(tenant, clock.time, 12, 7);
  await count(tenant, nextMonth, 1, 0);
  const before = clock.time;
  try {
    clock.time = nextMonth - 1;
    const last = (await ask(`{ account { usage ${USAGE} } }`, tenant)).account.usage;
    expect([last.messages.current, last.conversations.current, last.contacts.current]).toEqual([12, 7, 1]);
    clock.time = nextMonth;
    const first = (await ask(`{ account { usage ${USAGE} } }`, tenant)).account.usage;
    expect([first.messages.current, first.conversations.current, first.contacts.current]).toEqual([1, 0, 1]);
    expect([last.periodEnd, first.periodStart]).toEqual([iso(nextMonth), iso(nextMonth)]);
  } finally {
    clock.time = before;
  }
});

test('what is sent is counted at once, in the month in which it was accepted', async () => {
  const tenant = await gateway.addTenant({ plan: 'standard' });
  const send = (to: string) =>
    ask(
      `mutation { sendMessage(input: { to: { phone: "${to}" }, content: { text: { body: "Hi" } } }) { message { databaseId } userErrors { code message path } } }`,
      tenant,
    );
  const used = async () => {
    const { messages, conversations } = (await ask(`{ account { usage ${USAGE} } }`, tenant)).account.usage;
    return [messages.current, conversations.current];
  };
  const before = clock.time;
  try {
    for (const to of ['+4915140000211', '+4915140000211', '+4915140000212']) await send(to);
    expect(await used()).toEqual([3, 2]);
    clock.time = nextMonth;
    expect(await used()).toEqual([0, 0]);
    await send('+4915140000211');
    expect(await used()).toEqual([1, 1]);
  } finally {
    clock.time = before;
  }
});

test('an expired subscription is reported, and refuses nothing', async () => {
  const tenant = await gateway.addTenant({ plan: 'standard', channel: false });
  const ends = iso(clock.time + 500);
  await gateway.gateway.resources.db.transaction(trx => changeTenant(trx, tenant.id, { planExpiresAt: ends }));
  const subscription = async () => (await ask('{ account { subscription { status expiresAt } } }', tenant)).account;
  const before = clock.time;
  try {
    expect(await subscription()).toEqual({ subscription: { status: 'ACTIVE', expiresAt: ends } });
    clock.time += 500;
    expect(await subscription()).toEqual({ subscription: { status: 'EXPIRED', expiresAt: ends } });
    await ask('mutation { createContact(input: { phone: "+4915140000301" }) { contact { id } } }', tenant);
  } finally {
    clock.time = before;
  }
});

test('no token sees the account of another tenant, and none without account:read sees its own', async () => {
  const [mine, theirs] = [
    await gateway.addTenant({ plan: 'tiny', channel: false }),
    await gateway.addTenant({ plan: 'standard', channel: false }),
  ];
  await count(theirs, clock.time, 5, 5);
  const { account } = await ask('{ account { subdomain usage { messages { current } staff { current } } } }', mine);
  expect(account).toEqual({ subdomain: mine.slug, usage: { messages: { current: 0 }, staff: { current: 0 } } });
  const { id } = (await ask('{ account { id } }', theirs)).account;
  expect(await ask(`{ node(id: "${id}") { id } }`, mine)).toEqual({ node: null });
  const blind = await gateway.addToken(theirs, { scopes: ['contacts:*', 'messages:*', 'tokens:*'] });
  for (const field of [
    'account { name }',
    'account { usage { periodStart } }',
    'viewer { account { limits { features { otp } } } }',
  ])
    expect(codeOf(await gateway.graphql(`{ ${field} }`, {}, blind)), field).toBe('INSUFFICIENT_SCOPE');
  expect((await gateway.graphql(`{ node(id: "${id}") { id } }`, {}, blind)).data).toEqual({ node: null });
});

test('a feature that the plan lacks is refused by its name, and a changed plan reaches a token in use within 5 seconds', async () => {
  const tenant = await gateway.addTenant({ plan: 'tiny', channel: false });
  const { tokens, db } = gateway.gateway.resources;
  const before = clock.time;
  const current = async () => {
    const principal = await tokens.verify(tenant.token);
    if (!principal) throw new Error('The token is not known.');
    return principal.tenant;
  };
  try {
    requireFeature(await current(), 'otp');
    const tiny = await current();
    expect(() => requireFeature(tiny, 'bots')).toThrow(
      expect.objectContaining({ code: 'FEATURE_NOT_AVAILABLE', details: { feature: 'bots' } }),
    );
    await db.transaction(trx => changeTenant(trx, tenant.id, { plan: 'standard' }));
    clock.time += 4_600;
    requireFeature(await current(), 'bots');
  } finally {
    clock.time = before;
  }
});

test('countries come by name, once each, with the codes by which contacts name them', async () => {
  const token = await gateway.addToken(gateway.tenant, { scopes: ['bots:write'] });
  const { countries } = dataOf(await gateway.graphql('{ countries { numericCode alpha2 alpha3 name } }', {}, token));
  expect(countries).toContainEqual({ numericCode: 276, alpha2: 'DE', alpha3: 'DEU', name: 'Germany' });
  expect(countries).toContainEqual({ numericCode: 4, alpha2: 'AF', alpha3: 'AFG', name: 'Afghanistan' });
  const names: string[] = countries.map(({ name }: { name: string }) => name);
  expect(names.toSorted((a, b) => a.localeCompare(b, 'en'))).toEqual(names);
  expect(names.length).toBeGreaterThanOrEqual(249);
  for (const key of ['numericCode', 'alpha2', 'alpha3', 'name'])
    expect(new Set(countries.map((country: Record<string, unknown>) => country[key])).size, key).toBe(names.length);
  const {
    createContact: { contact: createContact },
  } = await ask(
    'mutation { createContact(input: { phone: "+4915140000401", country: "BR" }) { contact { country { numericCode alpha2 alpha3 name } } } }',
    gateway.tenant,
  );
  expect(createContact.country).toEqual({ numericCode: 76, alpha2: 'BR', alpha3: 'BRA', name: 'Brazil' });
});
