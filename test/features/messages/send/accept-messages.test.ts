import pg from 'pg';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { CodedError } from '../../../../src/core/errors.ts';
import {
  type AcceptOutcome,
  acceptMessages,
  type SendRequest,
} from '../../../../src/features/messages/send/accept-messages.ts';
import { textContent } from '../../../../src/features/messages/send/send-text.ts';
import { actFor } from '../../../../src/features/tenancy/tenants/act.ts';
import { dataOf } from '../../../support/answers.ts';
import { startGateway, type TestGateway, type TestTenant } from '../../../support/gateway.ts';
import { type SecondGateway, startSecondGateway } from '../../../support/second-gateway.ts';
import { newPhone, seedOf } from '../../../support/seed.ts';
import { sendAs } from '../../../support/sending.ts';

/** No worker runs: what is accepted stays in the outbox. */
let gateway: TestGateway;
let beside: SecondGateway;
beforeAll(async () => {
  gateway = await startGateway({ role: 'gateway', env: { PARLEY_DATABASE_POOL: '16' } });
  beside = await startSecondGateway(gateway);
  await gateway.database.query(
    `insert into plans (name, max_contacts, max_messages, max_conversations, calls_per_minute) values
       ('ten messages', null, 10, null, 6000), ('ten conversations', null, null, 10, 6000), ('ten contacts', 10, null, null, 6000)`,
  );
});
afterAll(async () => {
  await beside.stop();
  await gateway.stop();
});

let tenant: TestTenant;
beforeEach(async () => {
  tenant = await gateway.addTenant({ plan: 'unlimited' });
});

const text = (to: string, body = 'Hi', more: Partial<SendRequest['input']> = {}): SendRequest => ({
  operation: 'sendMessages',
  input: { to, ...more, text: body } as SendRequest['input'],
  content: textContent({ text: body }),
});

async function accept(requests: readonly SendRequest[], process: Pick<SecondGateway, 'resources'> = gateway.gateway) {
  const context = await actFor(process.resources, tenant.id, 'test', ['messages:send']);
  if (!context) throw new Error('There is no such tenant.');
  return acceptMessages(context, requests);
}

const codeOf = (outcome: AcceptOutcome): string | undefined =>
  'error' in outcome ? (outcome.error instanceof CodedError ? outcome.error.code : String(outcome.error)) : undefined;
const idOf = (outcome: AcceptOutcome): string => {
  if ('error' in outcome) throw outcome.error;
  return outcome.message.id;
};

async function count(table: string, where = 'true'): Promise<number> {
  const [row] = await gateway.database.query<{ n: number }>(
    `select count(*)::int as n from ${table} where tenant_id = $1 and ${where}`,
    [tenant.id],
  );
  return row?.n ?? 0;
}

/** The counters of the plan, which are also what there is. */
async function usage() {
  const [row] = await gateway.database.query<{ contacts: number; messages: number; conversations: number }>(
    `select (select contacts::int from tenant_usage where tenant_id = $1) as contacts, coalesce(sum(messages), 0)::int as messages,
       coalesce(sum(conversations), 0)::int as conversations from monthly_usage where tenant_id = $1`,
    [tenant.id],
  );
  expect(row).toEqual({
    contacts: await count('contacts'),
    messages: await count('messages'),
    conversations: await count('conversations'),
  });
  return row;
}

const many = (length: number): string[] => Array.from({ length }, newPhone);

test('500 messages to new numbers are accepted by one statement, with their events and turns, in the order of the batch', async () => {
  const phones = many(500);
  await accept([text(newPhone())]);
  gateway.statements.length = 0;
  const outcomes = await accept(phones.map(to => text(to)));
  expect(gateway.statements.filter(one => /insert into messages/.test(one))).toHaveLength(1);
  // Those that read the log and keep the process's place run beside it, the more the longer it takes.
  const own = gateway.statements.filter(one => !/cross-tenant|pg_current_snapshot|^(begin|commit)/i.test(one));
  expect(own.length).toBeLessThan(10);
  const ids = outcomes.map(idOf);
  expect(ids).toEqual([...ids].sort());
  expect(await usage()).toEqual({ contacts: 501, messages: 501, conversations: 501 });
  expect(await count('outbox', 'next_attempt_at is not null')).toBe(501);
  const events = await gateway.database.query<{ type: string; phone: string | null }>(
    `select type, payload->'contact'->>'phone' as phone from events where tenant_id = $1 order by xid, seq`,
    [tenant.id],
  );
  expect(events.slice(-1_500).map(({ type }) => type)).toEqual(
    phones.flatMap(() => ['contact.created', 'conversation.created', 'message.queued']),
  );
  expect(events.slice(-1_500).flatMap(({ type, phone }) => (type === 'contact.created' ? [phone] : []))).toEqual(
    phones,
  );
});

test('messages to one person keep their order, and the first alone has the turn', async () => {
  const { globalId } = await seedOf(gateway, tenant).contact();
  const outcomes = await accept(Array.from({ length: 20 }, (_, n) => text(globalId, `${n}`)));
  const rows = await gateway.database.query<{ body: string; has_turn: boolean }>(
    `select m.body, o.next_attempt_at is not null as has_turn from outbox o join messages m on m.tenant_id = o.tenant_id and m.id = o.message_id
     where o.tenant_id = $1 order by o.position`,
    [tenant.id],
  );
  expect(rows).toEqual(outcomes.map((_, n) => ({ body: `${n}`, has_turn: n === 0 })));
  expect(await usage()).toEqual({ contacts: 1, messages: 20, conversations: 1 });
});

/** Texts in the order in which they are sent. */
const queued = async () =>
  (
    await gateway.database.query<{ body: string }>(
      `select m.body from outbox o join messages m on m.tenant_id = o.tenant_id and m.id = o.message_id where o.tenant_id = $1 order by o.position`,
      [tenant.id],
    )
  ).map(({ body }) => body);

test('messages to one person keep their order where one of them is accepted only if nobody has answered', async () => {
  const { globalId } = await seedOf(gateway, tenant).contact();
  const other = newPhone();
  const [zero] = await accept([text(globalId, 'zero')]);
  const expectedLastMessageId = idOf(zero as AcceptOutcome);
  const outcomes = await accept([
    text(globalId, 'one', { expectedLastMessageId }),
    text(other, 'to another'),
    text(globalId, 'two'),
    text(globalId, 'three', { expectedLastMessageId }),
    text(globalId, 'four', { idempotencyKey: `${tenant.id}` }),
    text(other, 'to another, too'),
  ]);
  expect(outcomes.map(codeOf)).toEqual(outcomes.map(() => undefined));
  expect((await queued()).filter(body => !body.startsWith('to another'))).toEqual([
    'zero',
    'one',
    'two',
    'three',
    'four',
  ]);
  expect((await queued()).filter(body => body.startsWith('to another'))).toEqual(['to another', 'to another, too']);
});

test('messages to a locked contact keep their order, also where one of them is repeated', async () => {
  const { id, globalId } = await seedOf(gateway, tenant).contact();
  const number = newPhone();
  await accept([text(globalId, 'before')]);
  const key = `${tenant.id} repeated`;
  const locker = new pg.Client(gateway.database.url);
  await locker.connect();
  try {
    await locker.query('begin');
    await locker.query('select from contacts where tenant_id = $1 and id = $2 for update', [tenant.id, id]);
    const accepting = accept([
      text(globalId, 'one', { idempotencyKey: key }),
      text(globalId, 'two'),
      text(number, 'else'),
      text(globalId, 'one', { idempotencyKey: key }),
    ]);
    await expect.poll(queued).toContain('else');
    await locker.query('commit');
    expect((await accepting).map(codeOf)).toEqual(Array(4).fill(undefined));
  } finally {
    await locker.end();
  }
  expect((await queued()).filter(body => body !== 'else')).toEqual(['before', 'one', 'two']);
});

test('a new number that comes several times in a batch is one contact, and each message is accepted', async () => {
  const [one = '', other = ''] = many(2);
  const outcomes = await accept([text(one), text(other), text(one), text(one)]);
  expect(outcomes.map(codeOf)).toEqual([undefined, undefined, undefined, undefined]);
  expect(outcomes.map(outcome => 'message' in outcome && outcome.message.contact_created)).toEqual([
    true,
    true,
    false,
    false,
  ]);
  expect(await usage()).toEqual({ contacts: 2, messages: 4, conversations: 2 });
});

test('batches of two processes to the same new numbers, in opposite orders, make each contact once', async () => {
  const phones = many(100);
  const requests = phones.map(to => text(to));
  const all = await Promise.all([
    accept(requests),
    accept(requests.toReversed(), beside),
    accept(requests),
    accept(requests.toReversed(), beside),
  ]);
  for (const outcomes of all) expect(outcomes.map(codeOf)).toEqual(outcomes.map(() => undefined));
  expect(await usage()).toEqual({ contacts: 100, messages: 400, conversations: 100 });
  expect(await count('outbox', 'next_attempt_at is not null')).toBe(100);
});

test('of a batch of 30 with room for 10 messages in the month the first 10 are accepted, the others say what the plan allows', async () => {
  tenant = await gateway.addTenant({ plan: 'ten messages' });
  const outcomes = await accept(many(30).map(to => text(to)));
  expect(outcomes.map(codeOf)).toEqual(outcomes.map((_, n) => (n < 10 ? undefined : 'FEATURE_LIMIT_EXCEEDED')));
  const last = outcomes.at(-1);
  expect(last && 'error' in last && last.error).toMatchObject({
    details: { feature: 'messages', current: 10, maximum: 10 },
  });
  expect(await usage()).toEqual({ contacts: 10, messages: 10, conversations: 10 });
});

test('of a batch of 30 with room for 10 contacts the first 10 are created, and messages to known people go on', async () => {
  tenant = await gateway.addTenant({ plan: 'ten contacts' });
  const { globalId } = await seedOf(gateway, tenant).contact();
  const outcomes = await accept([...many(15).map(to => text(to)), text(globalId), ...many(14).map(to => text(to))]);
  expect(outcomes.map(codeOf)).toEqual(
    outcomes.map((_, n) => (n < 9 || n === 15 ? undefined : 'FEATURE_LIMIT_EXCEEDED')),
  );
  expect(await usage()).toEqual({ contacts: 10, messages: 10, conversations: 10 });
});

test('of a batch with room for 10 conversations, those of this month go on', async () => {
  tenant = await gateway.addTenant({ plan: 'ten conversations' });
  const { globalId } = await seedOf(gateway, tenant).contact();
  await accept([text(globalId)]);
  const outcomes = await accept(many(12).flatMap(to => [text(to), text(globalId)]));
  expect(outcomes.filter(outcome => codeOf(outcome) === undefined)).toHaveLength(12 + 9);
  expect(await usage()).toEqual({ contacts: 10, messages: 22, conversations: 10 });
});

test('two batches at once never exceed the plan', async () => {
  tenant = await gateway.addTenant({ plan: 'ten messages' });
  const all = await Promise.all([
    accept(many(8).map(to => text(to))),
    accept(
      many(8).map(to => text(to)),
      beside,
    ),
  ]);
  expect(all.flat().filter(outcome => codeOf(outcome) === undefined)).toHaveLength(10);
  expect(await usage()).toEqual({ contacts: 10, messages: 10, conversations: 10 });
});

test('an invalid, an opted-out and an unknown recipient among good ones fail alone', async () => {
  const seed = seedOf(gateway, tenant);
  const good = await seed.contact();
  const out = await seed.contact({ optedOut: true });
  const outcomes = await accept([
    text(good.globalId),
    text('12'),
    text(out.globalId),
    text(newPhone(), ' '),
    text(newPhone(), '@{contact_email}'),
    text(newPhone(), 'Hi', { channelId: 999_999 }),
    text(newPhone()),
  ]);
  expect(outcomes.map(codeOf)).toEqual([
    undefined,
    'VALIDATION_ERROR',
    'CONTACT_OPTED_OUT',
    'VALIDATION_ERROR',
    'VALIDATION_ERROR',
    'NOT_FOUND',
    undefined,
  ]);
  expect(await usage()).toEqual({ contacts: 3, messages: 2, conversations: 2 });
});

test('a batch repeated with its idempotency keys returns the same messages; one key twice is one message', async () => {
  const phones = many(5);
  const requests = phones.map((to, n) => text(to, 'Hi', { idempotencyKey: `${tenant.id} ${n}` }));
  const first = (await accept([...requests, requests[0] as SendRequest])).map(idOf);
  expect(first[5]).toBe(first[0]);
  const again = await accept([...requests, text(newPhone())], beside);
  expect(again.slice(0, 5).map(idOf)).toEqual(first.slice(0, 5));
  const [other] = await accept([text(phones[0] ?? '', 'Another', { idempotencyKey: `${tenant.id} 0` })]);
  expect(other && codeOf(other)).toBe('IDEMPOTENCY_MISMATCH');
  expect(await usage()).toEqual({ contacts: 6, messages: 6, conversations: 6 });
});

test('a message to a locked contact is accepted after the lock, and the others of its batch are stored before', async () => {
  const seed = seedOf(gateway, tenant);
  const [locked, free] = [await seed.contact(), await seed.contact()];
  await accept([text(locked.globalId), text(free.globalId)]);
  const locker = new pg.Client(gateway.database.url);
  await locker.connect();
  try {
    await locker.query('begin');
    await locker.query('select from contacts where tenant_id = $1 and id = $2 for update', [tenant.id, locked.id]);
    const accepting = accept([text(locked.globalId), text(free.globalId), text(newPhone())]);
    await expect.poll(() => count('messages')).toBe(4);
    await locker.query('commit');
    expect((await accepting).map(codeOf)).toEqual([undefined, undefined, undefined]);
  } finally {
    await locker.end();
  }
  expect(await usage()).toEqual({ contacts: 3, messages: 5, conversations: 3 });
});

test('sends that arrive together share statements, and one that is refused does not affect the others', async () => {
  const seed = seedOf(gateway, tenant);
  const people = await Promise.all(Array.from({ length: 40 }, () => seed.contact()));
  const out = await seed.contact({ optedOut: true });
  gateway.statements.length = 0;
  const answers = await Promise.all([
    ...people.map(({ phone }) => sendAs(gateway, 'text', { to: phone, text: 'Hi' }, 'databaseId', tenant.token)),
    sendAs(gateway, 'text', { to: out.phone, text: 'Hi' }, 'databaseId', tenant.token),
  ]);
  expect(answers.slice(0, 40).map(answer => typeof dataOf(answer).sendMessage.message.databaseId)).toEqual(
    people.map(() => 'string'),
  );
  expect(answers[40]?.data.sendMessage.userErrors).toMatchObject([{ code: 'CONTACT_OPTED_OUT' }]);
  expect(gateway.statements.filter(one => /insert into messages/.test(one)).length).toBeLessThan(20);
  expect(await usage()).toEqual({ contacts: 41, messages: 40, conversations: 40 });
});
