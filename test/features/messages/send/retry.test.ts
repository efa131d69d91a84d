import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { codeOf, dataOf, faultsOf, payloadOf, userErrorsOf } from '../../../support/answers.ts';
import { startGateway, type TestGateway } from '../../../support/gateway.ts';
import { type Person, personOf } from './answering.ts';

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startGateway({
    templates: [
      { name: 'order', language: 'en', category: 'UTILITY', components: [{ type: 'BODY', text: 'It is on its way.' }] },
    ],
  });
  dataOf(await gateway.mutate('syncTemplates', {}));
});
beforeEach(() => gateway.emulator.resetFaults());
afterAll(() => gateway.stop());

const ERRORS = `userErrors { __typename code message path ... on RetryError { retryAfterSeconds }
  ... on ConflictError { current { ... on Message { id status } } } }`;
const MESSAGE = 'id status text echoId retryOf { id } sentBy { kind } replyTo { id } template { name } raw';
const retry = (id: string, more: object = {}) =>
  gateway.graphql(
    `mutation ($input: RetryMessageInput!) { retryMessage(input: $input) { message { ${MESSAGE} } ${ERRORS} } }`,
    { input: { id, ...more } },
  );
/** A message that the network refuses, or fails after it was accepted. */
async function failed(person: Person, input: object = {}, fault: object = { errorCode: 131_026 }): Promise<string> {
  gateway.emulator.setFaults({ next: [{ ...fault, to: person.phone }] });
  const { id } = (await person.send({ waitForAcceptance: false, ...input })).data?.sendMessage.message ?? {};
  await person.shown(id, 'status', { status: 'FAILED' });
  return id;
}

test('a failed message is sent again as a new one, with its content, quote and echo', async () => {
  const person = personOf(gateway);
  const question = await person.writes('How much?');
  const first = await failed(person, { replyToId: question, content: { text: { body: 'Five', previewUrl: true } } });
  const before = await person.shown(first, MESSAGE);
  const { message } = payloadOf(await retry(first, { echoId: 'again' }));
  expect(message).toEqual({
    ...before,
    id: expect.not.stringMatching(first),
    status: 'QUEUED',
    echoId: 'again',
    retryOf: { id: first },
  });
  await person.shown(message.id, 'status', { status: 'READ' });
  expect(person.taken()).toMatchObject([
    { body: 'Five', replyTo: expect.any(String), content: { body: 'Five', preview_url: true } },
  ]);
  expect(await person.shown(first, 'status')).toEqual({ status: 'FAILED' });
});

test.each([
  ['a location', { location: { latitude: 1, longitude: 2, name: 'Here' } }],
  ['contact cards', { contacts: [{ name: 'Bo', phones: ['+14155550199'] }] }],
  ['a link', { media: { kind: 'IMAGE', file: { link: 'https://example.com/a.jpg' }, caption: 'Look' } }],
  ['buttons', { interactive: { body: 'Well?', buttons: [{ replyId: 'y', title: 'Yes' }] } }],
])('%s is sent again as it was', async (_what, content) => {
  const person = personOf(gateway);
  const first = await failed(person, { content });
  const { message } = payloadOf(await retry(first));
  await person.shown(message.id, 'status', { status: 'READ' });
  expect(message.raw).toEqual((await person.shown(first, 'raw')).raw);
  expect(person.taken()).toHaveLength(1);
});

test('ten requests at once, and later ones, send a message again once', async () => {
  const person = personOf(gateway);
  const first = await failed(person);
  const answers = await Promise.all(Array.from({ length: 10 }, (_, index) => retry(first, { echoId: `${index}` })));
  const ids = new Set(answers.map(answer => payloadOf(answer).message.id));
  expect(ids.size).toBe(1);
  const [id = ''] = ids;
  await person.shown(id, 'status', { status: 'READ' });
  expect(payloadOf(await retry(first, { idempotencyKey: 'later' })).message.id).toBe(id);
  expect(person.taken()).toHaveLength(1);
  // A retry that fails is sent again itself.
  expect(codeOf(await retry(id))).toBe('CONFLICT');
});

test('a retry that fails can be sent again', async () => {
  const person = personOf(gateway);
  const first = await failed(person);
  gateway.emulator.setFaults({ next: [{ errorCode: 131_026, to: person.phone }] });
  const second = payloadOf(await retry(first)).message.id;
  await person.shown(second, 'status', { status: 'FAILED' });
  const third = payloadOf(await retry(second)).message;
  expect(third.retryOf).toEqual({ id: second });
  await person.shown(third.id, 'status', { status: 'READ' });
});

test('a message that is under way, or arrived, is not sent again', async () => {
  const person = personOf(gateway);
  const sent = await person.sent();
  const answer = await retry(sent);
  expect(userErrorsOf(answer)).toMatchObject([
    { __typename: 'ConflictError', code: 'CONFLICT', current: { id: sent } },
  ]);
  // The network reports a failure, and then that it delivered the message all the same.
  const late = await failed(person, {}, { asyncErrorCode: 131_026 });
  const { databaseId } = await person.shown(late, 'databaseId');
  await gateway.database.query('update message_states set delivered_at = now() where message_id = $1', [databaseId]);
  expect(codeOf(await retry(late))).toBe('CONFLICT');
  expect(person.taken()).toHaveLength(2);
});

test('a message whose outcome is unknown waits as long as its status may come; one that the network then named is not sent again', async () => {
  const person = personOf(gateway);
  const first = await failed(person);
  const { databaseId } = await person.shown(first, 'databaseId');
  const unknown = (failedAgo: string, wamid: string | null) =>
    gateway.database.query(
      `update message_states set error = '{"code":0,"title":"Not sent within 24 hours","details":""}', failed_at = now() - $2::interval, wamid = $3
       where message_id = $1`,
      [databaseId, failedAgo, wamid],
    );
  await unknown('10 seconds', null);
  const [error] = userErrorsOf(await retry(first)) as unknown as [{ retryAfterSeconds: number }];
  expect(error).toMatchObject({ __typename: 'RetryError', code: 'RATE_LIMIT_EXCEEDED' });
  expect(error.retryAfterSeconds).toBeGreaterThan(0);
  expect(error.retryAfterSeconds).toBeLessThanOrEqual(20);
  await unknown('10 minutes', 'wamid.late');
  expect(codeOf(await retry(first))).toBe('CONFLICT');
  expect(person.taken()).toEqual([]);
  await unknown('10 minutes', null);
  await person.shown(payloadOf(await retry(first)).message.id, 'status', { status: 'READ' });
});

test('the limit of marketing messages to a person is respected for a day', async () => {
  const person = personOf(gateway);
  const first = await failed(person, {}, { asyncErrorCode: 131_049 });
  const [error] = userErrorsOf(await retry(first)) as unknown as [{ retryAfterSeconds: number }];
  expect(error.retryAfterSeconds).toBeGreaterThan(86_000);
});

test('what failed outside the service window is refused while it is closed', async () => {
  const person = personOf(gateway);
  gateway.emulator.setFaults({ window: 'strict' });
  const first = payloadOf(await person.send({ waitForAcceptance: false })).message.id;
  await person.shown(first, 'error { code }', { error: { code: 131_047 } });
  expect(codeOf(await retry(first))).toBe('OUTSIDE_SERVICE_WINDOW');
  await person.writes('I am here');
  await person.shown(payloadOf(await retry(first)).message.id, 'status', { status: 'READ' });
});

test('a template is sent again only while it is approved', async () => {
  const person = personOf(gateway);
  const first = await failed(person, { content: { template: { name: 'order', language: 'en' } } });
  const status = (word: string) => gateway.database.query('update templates set status = $1', [word]);
  await status('PAUSED');
  expect(faultsOf(await retry(first))).toEqual({ id: ['Its template order is PAUSED.'] });
  await status('APPROVED');
  const { message } = payloadOf(await retry(first));
  expect(message.template).toEqual({ name: 'order' });
  await person.shown(message.id, 'status', { status: 'READ' });
});

test('inbound messages, reactions and unknown ids are refused; an opt-out holds', async () => {
  const person = personOf(gateway);
  const question = await person.writes('Hi');
  expect(faultsOf(await retry(question))).toEqual({ id: ['Only a message of the business can be sent again.'] });
  expect(codeOf(await retry('01890000-0000-7000-8000-000000000000'))).toBe('NOT_FOUND');
  const first = await failed(person);
  const { contact } = await person.shown(first, 'contact { id }');
  dataOf(await gateway.mutate('updateContact', { id: contact.id, isOptedOut: true }));
  expect(codeOf(await retry(first))).toBe('CONTACT_OPTED_OUT');
});
