import { afterAll, beforeAll, expect, test } from 'vitest';
import { codeOf, dataOf, faultsOf } from '../../../support/answers.ts';
import { eventually, startGateway, type TestGateway } from '../../../support/gateway.ts';
import { postWebhook } from '../../../support/network-webhook.ts';
import { type Person, personOf } from './answering.ts';

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startGateway();
});
afterAll(() => gateway.stop());

const REACTIONS = 'reactions { emoji direction contact { phone } }';
const react = (id: string, emoji: string, more: object = {}) =>
  gateway.mutate('reactToMessage', { id, emoji, ...more }, 'message { id text } contactCreated');
const ours = (emoji: string) => ({ emoji, direction: 'OUTBOUND', contact: null });
const eventsOf = async ({ phone }: Person) =>
  (
    await gateway.database.query<{ emoji: string | null }>(
      `select e.payload->'reaction'->>'emoji' as emoji from events e join contacts c on c.tenant_id = e.tenant_id and c.id = e.contact_id
       where e.type = 'message.reaction' and c.phone = $1 order by e.seq`,
      [phone],
    )
  ).map(({ emoji }) => emoji);

test('a reaction goes to the network, stands beside that of the person, is replaced and taken back', async () => {
  const person = personOf(gateway);
  const question = await person.writes('Thanks!');
  const { wamid } = await person.shown(question, 'wamid');
  const answer = dataOf(await react(question, '👍')).reactToMessage;
  expect(answer).toMatchObject({ message: { id: question, text: 'Thanks!' }, contactCreated: null });
  await person.shown(question, REACTIONS, { reactions: [ours('👍')] });
  expect(person.taken()).toMatchObject([{ type: 'reaction', content: { message_id: wamid, emoji: '👍' } }]);
  gateway.emulator.inbound({
    phoneNumberId: gateway.tenant.phoneNumberId,
    from: person.phone.slice(1),
    type: 'reaction',
    messageId: wamid,
    emoji: '😀',
  });
  const theirs = { emoji: '😀', direction: 'INBOUND', contact: { phone: person.phone } };
  // The network tells whole seconds: theirs may count as the earlier one.
  const both = expect.arrayContaining([ours('👍'), theirs]);
  await person.shown(question, REACTIONS, { reactions: both });
  dataOf(await react(question, '❤️'));
  await person.shown(question, REACTIONS, { reactions: expect.arrayContaining([theirs, ours('❤️')]) });
  dataOf(await react(question, ''));
  await eventually(async () => expect((await person.shown(question, REACTIONS)).reactions).toEqual([theirs]));
  expect(person.taken().map(({ content }) => content['emoji'])).toEqual(['👍', '❤️', '']);
  expect(await eventsOf(person)).toEqual(['👍', '😀', '❤️', null]);
});

test('a reaction that fails after the network accepted it is removed again', async () => {
  const person = personOf(gateway);
  const question = await person.writes('Thanks!');
  dataOf(await react(question, '👍'));
  await person.shown(question, REACTIONS, { reactions: [ours('👍')] });
  // A failure that is told together with the acceptance leaves no event: the emulator's comes too soon.
  gateway.emulator.setFaults({ dropStatuses: 1 });
  dataOf(await react(question, '❤️'));
  await person.shown(question, REACTIONS, { reactions: [ours('❤️')] });
  gateway.emulator.setFaults({ dropStatuses: 0 });
  const failure = {
    id: person.taken().at(-1)?.wamid,
    recipient_id: person.phone.slice(1),
    status: 'failed',
    timestamp: String(Math.floor(Date.now() / 1_000)),
    errors: [{ code: 131_026, title: 'Message undeliverable' }],
  };
  await postWebhook(gateway, gateway.tenant, { statuses: [failure] });
  await eventually(async () => expect(await eventsOf(person)).toEqual(['👍', '❤️', '👍']));
  expect((await person.shown(question, REACTIONS)).reactions).toEqual([ours('👍')]);
});

test('a reaction that the network refuses never shows', async () => {
  const person = personOf(gateway);
  const question = await person.writes('Thanks!');
  gateway.emulator.setFaults({ next: [{ errorCode: 131_026, to: person.phone }] });
  dataOf(await react(question, '👍'));
  await eventually(async () => {
    const { messages } = dataOf(
      await gateway.graphql('{ messages(filter: { type: { eq: REACTION } }, first: 1) { nodes { status } } }'),
    );
    expect(messages.nodes).toEqual([{ status: 'FAILED' }]);
  });
  expect((await person.shown(question, REACTIONS)).reactions).toEqual([]);
  expect(await eventsOf(person)).toEqual([]);
});

test('a reaction is not the last message of its conversation, answers nothing and takes it from no bot', async () => {
  const person = personOf(gateway);
  const question = await person.writes('Anybody there?');
  const FIELDS = 'conversation { id status lastMessage { id } waitingSince messages { nodes { id } } }';
  const before = (await person.shown(question, FIELDS)).conversation;
  expect(before).toMatchObject({ lastMessage: { id: question }, waitingSince: expect.any(String) });
  await gateway.database.query("update conversations set status = 'pending' where last_message_id = $1", [
    (await person.shown(question, 'databaseId')).databaseId,
  ]);
  dataOf(await react(question, '👍'));
  await person.shown(question, REACTIONS, { reactions: [ours('👍')] });
  expect((await person.shown(question, FIELDS)).conversation).toEqual({ ...before, status: 'PENDING' });
});

test.each([
  ['two emojis', '👍👍', ['emoji']],
  ['a text', 'ok', ['emoji']],
  ['a digit', '1', ['emoji']],
])('%s are refused', async (_what, emoji, fields) => {
  const person = personOf(gateway);
  expect(Object.keys(faultsOf(await react(await person.writes('Hi'), emoji)))).toEqual(fields);
});

test.each(['👍', '❤', '❤️', '👩‍👩‍👧', '🏳️‍🌈', '🇩🇪', '1️⃣', '👍🏽'])('%s is one emoji', async emoji => {
  const person = personOf(gateway);
  const question = await person.writes('Hi');
  dataOf(await react(question, emoji));
  await person.shown(question, REACTIONS, { reactions: [ours(emoji)] });
});

test('a message that is missing, a reaction, or one that was not accepted cannot be reacted to', async () => {
  const person = personOf(gateway);
  expect(codeOf(await react('01890000-0000-7000-8000-000000000000', '👍'))).toBe('NOT_FOUND');
  gateway.emulator.setFaults({ next: [{ errorCode: 131_026, to: person.phone }] });
  const { id } = (await person.send({ waitForAcceptance: false })).data?.sendMessage.message ?? {};
  await person.shown(id, 'status', { status: 'FAILED' });
  expect(faultsOf(await react(id, '👍'))).toEqual({ id: ['The network has not accepted this message.'] });
});

test('the same key reacts once', async () => {
  const person = personOf(gateway);
  const question = await person.writes('Hi');
  const key = { idempotencyKey: `react-${person.phone}` };
  dataOf(await react(question, '👍', key));
  dataOf(await react(question, '👍', key));
  await person.shown(question, REACTIONS, { reactions: [ours('👍')] });
  expect(person.taken()).toHaveLength(1);
  expect(codeOf(await react(question, '❤️', key))).toBe('IDEMPOTENCY_MISMATCH');
});
