import { afterAll, beforeAll, expect, test } from 'vitest';
import { changeTenant } from '../../../../src/features/tenancy/tenants/change.ts';
import { monthOf } from '../../../../src/features/tenancy/usage/usage.ts';
import type { Clock } from '../../../../src/platform/clock.ts';
import { codeOf, dataOf, userErrorsOf } from '../../../support/answers.ts';
import { startGateway, type TestGateway, type TestTenant } from '../../../support/gateway.ts';
import { newPhone, seedOf } from '../../../support/seed.ts';

/** The middle of a coming month. */
function untilMiddleOf(monthsAhead: number): number {
  const now = new Date();
  return Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + monthsAhead, 15) - now.getTime();
}

/** Moved forward by a test. Sends are counted in the month of this clock, people who write in that of the database's. */
let aheadMs = 0;
const clock: Clock = { now: () => Date.now() + aheadMs };

/** When the month of the clock began, by the database: `created_at` of messages is its time. */
let monthBegan = '-infinity';

let gateway: TestGateway;

beforeAll(async () => {
  gateway = await startGateway({ clock, env: { PARLEY_DATABASE_POOL: '20' } });
  await gateway.database.query(
    `insert into plans (name, max_contacts, max_messages, max_conversations, calls_per_minute) values
       ('ten messages', null, 10, null, 6000), ('ten conversations', null, null, 10, 6000), ('three messages', null, 3, null, 6000)`,
  );
});
afterAll(() => gateway.stop());

const SEND =
  'mutation ($to: String!, $key: String) { sendMessage(input: { to: { phone: $to }, content: { text: { body: "hi" } }, idempotencyKey: $key }) { message { conversationId } userErrors { code message path ... on LimitError { feature used maximum } } } }';
const send = (tenant: TestTenant, to = newPhone(), key: string | null = null) =>
  gateway.graphql(SEND, { to, key }, tenant.token);

/** @returns what the month has counted, which is also what there is */
async function usage(tenant: TestTenant): Promise<{ messages: number; conversations: number }> {
  const month = monthOf(clock.now());
  const [row] = await gateway.database.query<{ messages: number; conversations: number; sent: number; open: number }>(
    `select (select coalesce(sum(messages), 0)::int from monthly_usage where tenant_id = $1 and month = $2::date) as messages,
            (select coalesce(sum(conversations), 0)::int from monthly_usage where tenant_id = $1 and month = $2::date) as conversations,
            (select count(*)::int from messages where tenant_id = $1 and direction = 'outbound' and created_at >= $3::timestamptz) as sent,
            (select count(distinct conversation_id)::int from messages where tenant_id = $1 and created_at >= $3::timestamptz) as open`,
    [tenant.id, month, monthBegan],
  );
  if (!row) throw new Error('no row');
  expect({ messages: row.messages, conversations: row.conversations }).toEqual({
    messages: row.sent,
    conversations: row.open,
  });
  return { messages: row.messages, conversations: row.conversations };
}

test('of 50 simultaneous sends with 10 left in the month exactly 10 are accepted, the others say what the plan allows', async () => {
  const tenant = await gateway.addTenant({ plan: 'ten messages' });
  const answers = await Promise.all(Array.from({ length: 50 }, () => send(tenant)));
  expect(answers.filter(answer => codeOf(answer) === undefined)).toHaveLength(10);
  const refusals = answers.flatMap(userErrorsOf);
  expect(refusals).toHaveLength(40);
  for (const refusal of refusals)
    expect(refusal).toMatchObject({ code: 'FEATURE_LIMIT_EXCEEDED', feature: 'messages', used: 10, maximum: 10 });
  expect(await usage(tenant)).toEqual({ messages: 10, conversations: 10 });
  const [contacts] = await gateway.database.query<{ n: number }>(
    'select contacts::int as n from tenant_usage where tenant_id = $1',
    [tenant.id],
  );
  expect(contacts?.n, 'a refused send makes no contact').toBe(10);
});

test('new conversations are limited alike, while those of this month go on', async () => {
  const tenant = await gateway.addTenant({ plan: 'ten conversations' });
  const known = newPhone();
  dataOf(await send(tenant, known));
  const answers = await Promise.all(
    Array.from({ length: 40 }, (_, n) => send(tenant, n % 2 === 0 ? known : newPhone())),
  );
  expect(answers.filter(answer => codeOf(answer) === undefined)).toHaveLength(20 + 9);
  const refusals = answers.flatMap(userErrorsOf);
  expect(refusals).toHaveLength(11);
  for (const refusal of refusals) expect(refusal).toMatchObject({ feature: 'conversations' });
  expect(await usage(tenant)).toEqual({ messages: 30, conversations: 10 });
});

test('a conversation that many sends open at once is counted once', async () => {
  const tenant = await gateway.addTenant();
  const { phone } = await seedOf(gateway, tenant).contact();
  const answers = await Promise.all(Array.from({ length: 30 }, () => send(tenant, phone)));
  expect(answers.map(codeOf)).toEqual(answers.map(() => undefined));
  expect(await usage(tenant)).toEqual({ messages: 30, conversations: 1 });
});

test('a person who writes begins a conversation, however full the plan is, and sending to others stays refused', async () => {
  const tenant = await gateway.addTenant({ plan: 'ten conversations' });
  await Promise.all(Array.from({ length: 10 }, () => send(tenant)));
  const inbound = { from: '+14155552222', text: 'Hi', phoneNumberId: tenant.phoneNumberId };
  gateway.emulator.inbound(inbound);
  await expect.poll(async () => (await usage(tenant)).conversations).toBe(11);
  gateway.emulator.inbound({ ...inbound, text: 'Again' });
  dataOf(await send(tenant, inbound.from));
  expect(codeOf(await send(tenant))).toBe('FEATURE_LIMIT_EXCEEDED');
  expect(await usage(tenant)).toEqual({ messages: 11, conversations: 11 });
});

test('a plan without limits has none after people wrote in either: no send has to share out the month', async () => {
  const tenant = await gateway.addTenant({ plan: 'unlimited' });
  for (let person = 0; person < 5; person += 1)
    gateway.emulator.inbound({ from: newPhone(), text: 'Hi', phoneNumberId: tenant.phoneNumberId });
  await expect.poll(async () => (await usage(tenant)).conversations).toBe(5);
  const limited = await gateway.database.query(
    'select 1 from monthly_usage where tenant_id = $1 and (messages_granted is not null or conversations_granted is not null)',
    [tenant.id],
  );
  expect(limited).toEqual([]);
});

test('a repeated request is counted once, a refused one not at all', async () => {
  const tenant = await gateway.addTenant();
  const to = newPhone();
  await Promise.all(Array.from({ length: 10 }, () => send(tenant, to, 'the same')));
  expect(codeOf(await send(tenant, '12'))).toBe('VALIDATION_ERROR');
  expect(await usage(tenant)).toEqual({ messages: 1, conversations: 1 });
});

test('a larger plan lets sends go on at once, a smaller one stops them', async () => {
  const tenant = await gateway.addTenant({ plan: 'three messages' });
  const change = (plan: string) =>
    gateway.gateway.resources.db.transaction(trx => changeTenant(trx, tenant.id, { plan }));
  const many = async (count: number) =>
    (await Promise.all(Array.from({ length: count }, () => send(tenant)))).filter(
      answer => codeOf(answer) === undefined,
    ).length;
  expect(await many(6)).toBe(3);
  await change('ten messages');
  expect(await many(10)).toBe(7);
  await change('three messages');
  expect(await many(3)).toBe(0);
  await change('unlimited');
  expect(await many(20)).toBe(20);
  await change('three messages');
  expect(await many(3)).toBe(0);
  expect(await usage(tenant)).toEqual({ messages: 30, conversations: 30 });
});

test('a new month begins with the whole plan, and conversations of the old one are counted again', async () => {
  const tenant = await gateway.addTenant({ plan: 'ten messages' });
  const phones = Array.from({ length: 10 }, newPhone);
  await Promise.all(phones.map(to => send(tenant, to)));
  expect(codeOf(await send(tenant))).toBe('FEATURE_LIMIT_EXCEEDED');
  aheadMs = untilMiddleOf(1);
  const [now] = await gateway.database.query<{ text: string }>('select now()::text as text');
  monthBegan = now?.text ?? '';
  const answers = await Promise.all([...phones, ...phones].map(to => send(tenant, to)));
  expect(answers.filter(answer => codeOf(answer) === undefined)).toHaveLength(10);
  expect((await usage(tenant)).messages).toBe(10);
});
