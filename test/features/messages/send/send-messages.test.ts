import pg from 'pg';
import { afterAll, beforeAll, beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest';
import { QueueOverload } from '../../../../src/platform/keyed-semaphore.ts';
import { codeOf, dataOf } from '../../../support/answers.ts';
import { type GraphQLAnswer, startGateway, type TestGateway, type TestTenant } from '../../../support/gateway.ts';
import { type SecondGateway, startSecondGateway } from '../../../support/second-gateway.ts';
import { newPhone, seedOf } from '../../../support/seed.ts';

/** No worker runs: what is accepted stays in the outbox. */
let gateway: TestGateway;
let beside: SecondGateway;
beforeAll(async () => {
  gateway = await startGateway({
    role: 'gateway',
    env: { PARLEY_DATABASE_POOL: '16' },
  });
  beside = await startSecondGateway(gateway);
  await gateway.database.query(
    `insert into plans (name, max_messages, calls_per_minute) values ('ten messages', 10, 6000)`,
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

const SEND = `mutation ($input: SendMessagesInput!) { sendMessages(input: $input) {
  summary { total succeeded failed isRolledBack }
  results { index outcome contactCreated message { databaseId text } userErrors { code path message } }
  userErrors { code path } } }`;
const sendMessages = (input: object, process: Pick<TestGateway, 'graphql'> = gateway): Promise<GraphQLAnswer> =>
  process.graphql(SEND, { input }, tenant.token);
const batch = async (input: object, process?: Pick<TestGateway, 'graphql'>) =>
  dataOf(await sendMessages(input, process)).sendMessages;

const text = (phone: string, body = 'Hi', more: object = {}) => ({
  to: { phone },
  content: { text: { body } },
  ...more,
});
const many = (length: number) => Array.from({ length }, newPhone);

async function stored(): Promise<number> {
  const [row] = await gateway.database.query<{ n: number }>(
    'select count(*)::int as n from messages where tenant_id = $1',
    [tenant.id],
  );
  return row?.n ?? 0;
}

test('each message has an outcome in the order of the input, with errors below its place', async () => {
  const out = await seedOf(gateway, tenant).contact({ optedOut: true });
  const phone = newPhone();
  const { summary, results } = await batch({
    messages: [
      text(phone, 'One'),
      text('12'),
      { to: { contactId: out.globalId }, content: { text: { body: 'Hi' } } },
      text(newPhone(), ''),
      text(phone, 'Two'),
    ],
  });
  expect(summary).toEqual({ total: 5, succeeded: 2, failed: 3, isRolledBack: false });
  expect(results.map((one: { outcome: string }) => one.outcome)).toEqual([
    'CREATED',
    'FAILED',
    'FAILED',
    'FAILED',
    'CREATED',
  ]);
  expect(
    results.map((one: { userErrors: { code: string; path: string[] }[] }) =>
      one.userErrors.map(({ code, path }) => [code, path]),
    ),
  ).toEqual([
    [],
    [['INVALID', ['messages', '1', 'to', 'phone']]],
    [['CONTACT_OPTED_OUT', ['messages', '2']]],
    [['REQUIRED', ['messages', '3', 'content', 'text', 'body']]],
    [],
  ]);
  expect(results[0].message.text).toBe('One');
  expect([results[0].contactCreated, results[4].contactCreated, results[1].contactCreated]).toEqual([
    true,
    false,
    null,
  ]);
  expect(await stored()).toBe(2);
});

test('a batch of none and one of 501 are refused', async () => {
  for (const messages of [[], Array.from({ length: 501 }, () => text('+4915112345678'))])
    expect(codeOf(await sendMessages({ messages }))).toBeDefined();
  expect(await stored()).toBe(0);
});

test('with ROLL_BACK an error undoes everything, and without one all are accepted', async () => {
  const phones = many(3);
  const good = [...phones, ...phones].map(phone => text(phone));
  const failed = await batch({ onError: 'ROLL_BACK', messages: [...good, text('12')] });
  expect(failed.summary).toEqual({ total: 7, succeeded: 0, failed: 7, isRolledBack: true });
  expect(failed.results.map((one: { outcome: string }) => one.outcome)).toEqual([
    ...good.map(() => 'ROLLED_BACK'),
    'FAILED',
  ]);
  expect(await stored()).toBe(0);
  const sent = await batch({ onError: 'ROLL_BACK', messages: good });
  expect(sent.summary).toEqual({ total: 6, succeeded: 6, failed: 0, isRolledBack: false });
  expect(await stored()).toBe(6);
});

test('with ROLL_BACK a batch beyond the plan is refused as a whole', async () => {
  tenant = await gateway.addTenant({ plan: 'ten messages' });
  const answer = await sendMessages({ onError: 'ROLL_BACK', messages: many(11).map(phone => text(phone)) });
  expect(codeOf(answer)).toBe('FEATURE_LIMIT_EXCEEDED');
  expect(await stored()).toBe(0);
});

test('a dry run tells the outcomes and writes nothing', async () => {
  const { summary, results } = await batch({ isDryRun: true, messages: [text(newPhone()), text('12')] });
  expect(summary).toEqual({ total: 2, succeeded: 1, failed: 1, isRolledBack: false });
  expect(results.map((one: { message: unknown }) => one.message)).toEqual([null, null]);
  expect(await stored()).toBe(0);
});

test.each(['CONTINUE', 'ROLL_BACK'])(
  'a repetition of a batch with %s returns the first result, failed messages included',
  async onError => {
    const messages = [...many(3).map(phone => text(phone)), ...(onError === 'CONTINUE' ? [text('12')] : [])];
    const input = { idempotencyKey: `${tenant.id} batch`, onError, messages };
    const first = await batch(input);
    const [again, other] = await Promise.all([batch(input), batch(input, beside)]);
    expect(again).toEqual(first);
    expect(other).toEqual(first);
    expect(codeOf(await sendMessages({ ...input, messages: [text(newPhone())] }))).toBe('IDEMPOTENCY_MISMATCH');
    expect(await stored()).toBe(3);
  },
);

test('the same batch sent twice at once by two processes is accepted once', async () => {
  const input = { idempotencyKey: `${tenant.id} twice`, messages: many(50).map(phone => text(phone)) };
  const [one, other] = await Promise.all([batch(input), batch(input, beside)]);
  const ids = (of: { results: { message: { databaseId: string } }[] }) =>
    of.results.map(({ message }) => message.databaseId);
  expect(ids(one)).toEqual(ids(other));
  expect(await stored()).toBe(50);
});

test('after a crash in the middle, the repetition accepts what is missing and nothing twice', async () => {
  const messages = many(6).map(phone => text(phone));
  const key = `${tenant.id} crashed`;
  const first = await batch({ idempotencyKey: key, messages });
  // As it is if the process dies when half is accepted: no result of the whole, and neither keys nor messages of the rest.
  await gateway.database.query(`delete from idempotency_keys where tenant_id = $1 and operation = 'sendMessages'`, [
    tenant.id,
  ]);
  const lost = first.results.slice(3).map((one: { message: { databaseId: string } }) => one.message.databaseId);
  await gateway.database.query(`delete from idempotency_keys where tenant_id = $1 and result->>'id' = any($2)`, [
    tenant.id,
    lost,
  ]);
  await gateway.database.query('delete from messages where tenant_id = $1 and id = any($2::uuid[])', [tenant.id, lost]);
  const again = await batch({ idempotencyKey: key, messages }, beside);
  expect(again.summary).toMatchObject({ succeeded: 6 });
  expect(again.results.slice(0, 3).map((one: { message: unknown }) => one.message)).toEqual(
    first.results.slice(0, 3).map((one: { message: unknown }) => one.message),
  );
  expect(await stored()).toBe(6);
});

test('a message with a key of its own is the one that sendMessage sent with it', async () => {
  const phone = newPhone();
  const single = dataOf(
    await gateway.graphql(
      'mutation ($input: SendMessageInput!) { sendMessage(input: $input) { message { databaseId } userErrors { code } } }',
      { input: text(phone, 'Hi', { idempotencyKey: 'own' }) },
      tenant.token,
    ),
  ).sendMessage.message.databaseId;
  const { results } = await batch({ messages: [text(phone, 'Hi', { idempotencyKey: 'own' }), text(phone, 'More')] });
  expect(results[0].message.databaseId).toBe(single);
  expect(await stored()).toBe(2);
});

describe('a message that cannot be accepted at the moment', () => {
  let busy: { readonly id: number; readonly phone: string };
  let release: () => Promise<void>;

  /** Another transaction holds the contact, and no message waits for it for long. */
  beforeEach(async () => {
    busy = await seedOf(gateway, tenant).contact();
    const locker = new pg.Client(gateway.database.url);
    await locker.connect();
    await locker.query('begin');
    await locker.query('select from contacts where tenant_id = $1 and id = $2 for update', [tenant.id, busy.id]);
    const { sendSemaphore } = gateway.gateway.resources;
    const full = vi.spyOn(sendSemaphore, 'run').mockRejectedValue(new QueueOverload('The queue is full.'));
    release = async () => {
      full.mockRestore();
      await locker.end();
    };
    onTestFinished(() => release());
  });

  test('fails alone where others were accepted, which a client without a key would send twice', async () => {
    const { summary, results } = await batch({ messages: [text(newPhone()), text(busy.phone)] });
    expect(summary).toMatchObject({ succeeded: 1, failed: 1 });
    expect(results[1].userErrors).toMatchObject([{ code: 'CONFLICT', path: ['messages', '1'] }]);
    const rest = await gateway.rest(
      'POST',
      '/messages/batch',
      { messages: [newPhone(), busy.phone].map(phone => ({ phone, message: 'Hi' })) },
      { authorization: `Bearer ${tenant.token}` },
    );
    expect([rest.status, (await rest.json()).errors]).toMatchObject([200, [{ index: 1, code: 'CONFLICT' }]]);
    expect(await stored()).toBe(2);
  });

  test('fails the request where nothing was accepted', async () => {
    expect(codeOf(await sendMessages({ messages: [text(busy.phone), text('12')] }))).toBe('SERVICE_UNAVAILABLE');
    expect(await stored()).toBe(0);
  });

  test('is accepted by a repetition with the key of the batch, and the others are not sent again', async () => {
    const input = { idempotencyKey: `${tenant.id} busy`, messages: [text(newPhone()), text(busy.phone)] };
    const first = await batch(input);
    await release();
    const again = await batch(input);
    expect(again.summary).toMatchObject({ succeeded: 2 });
    expect(again.results[0]).toEqual(first.results[0]);
    expect(await batch(input)).toEqual(again);
    expect(await stored()).toBe(2);
  });
});

test('REST takes the key of a message as text or as a number, and refuses other values', async () => {
  const phone = newPhone();
  const rest = async (key: unknown) => {
    const messages = [{ phone, message: 'num', idempotency_key: key }];
    const headers = { authorization: `Bearer ${tenant.token}` };
    return (await gateway.rest('POST', '/messages/batch', { messages }, headers)).json();
  };
  const [first, again, quoted] = [await rest(4711), await rest(4711), await rest('4711')];
  expect([again.created, quoted.created]).toEqual([first.created, first.created]);
  expect(await stored()).toBe(1);
  for (const key of [true, {}, ['4711']])
    expect((await rest(key)).errors).toMatchObject([
      { code: 'VALIDATION_ERROR', errors: { idempotency_key: ['Must be text.'] } },
    ]);
  expect(await stored()).toBe(1);
});

test('REST sends a batch of all kinds, with an outcome for each and errors by the names of its fields', async () => {
  const { token } = tenant;
  const rest = async (body: object, headers: Record<string, string> = {}) => {
    const answer = await gateway.rest('POST', '/messages/batch', body, {
      authorization: `Bearer ${token}`,
      ...headers,
    });
    return { status: answer.status, replayed: answer.headers.get('idempotency-replayed'), body: await answer.json() };
  };
  const phone = newPhone();
  const messages = [
    { phone, message: 'Hello' },
    { kind: 'media', phone, media_type: 'image', media_url: 'https://example.com/a.jpg', caption: 'Look' },
    { phone, type: 'button', body_text: 'Well?', buttons: [{ id: 'yes', title: 'Yes' }] },
    { phone: '12', message: 'Hello' },
    { phone, message: '' },
    { kind: 'sound', phone },
    { kind: 'template', phone, template_name: 'unknown', language: 'en' },
  ];
  const first = await rest({ messages }, { 'idempotency-key': 'batch' });
  expect(first.status).toBe(200);
  expect(first.body).toMatchObject({
    success: true,
    summary: { total: 7, created: 3, failed: 4 },
    created: [
      { index: 0, phone: phone.slice(1), status: 'queued', message_id: null, contact_created: true },
      { index: 1, contact_created: false },
      { index: 2 },
    ],
  });
  expect(
    first.body.errors.map((one: { index: number; code: string; errors: object }) => [
      one.index,
      one.code,
      Object.keys(one.errors),
    ]),
  ).toEqual([
    [3, 'VALIDATION_ERROR', ['phone']],
    [4, 'VALIDATION_ERROR', ['message']],
    [5, 'VALIDATION_ERROR', ['kind']],
    [6, 'VALIDATION_ERROR', ['template_name']],
  ]);
  const again = await rest({ messages }, { 'idempotency-key': 'batch' });
  expect(again.replayed).toBe('true');
  expect(again.body).toEqual(first.body);
  const undone = await rest({ messages, options: { continue_on_error: false } });
  expect(undone.body).toMatchObject({ success: false, summary: { total: 7, created: 0, failed: 7 }, created: [] });
  expect(await stored()).toBe(3);
});
