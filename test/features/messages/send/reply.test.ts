import { afterAll, beforeAll, expect, test } from 'vitest';
import { faultsOf } from '../../../support/answers.ts';
import { startGateway, type TestGateway } from '../../../support/gateway.ts';
import { personOf } from './answering.ts';

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startGateway();
});
afterAll(() => gateway.stop());

const NOT_IN_CONVERSATION = { replyToId: ['Is not a message of the conversation with this recipient.'] };

test('an answer quotes its message at the network, and shows it, in both directions', async () => {
  const person = personOf(gateway);
  const question = await person.writes('How much?');
  const { wamid } = await person.shown(question, 'wamid');
  const answer = await person.sent({ replyToId: question });
  expect(person.taken().at(-1)).toMatchObject({ type: 'text', body: 'Hello', replyTo: wamid });
  expect(await person.shown(answer, 'replyToWamid replyTo { id previewText }')).toEqual({
    replyToWamid: wamid,
    replyTo: { id: question, previewText: 'How much?' },
  });
  const own = await person.sent({ replyToId: answer, content: { location: { latitude: 1, longitude: 2 } } });
  expect(await person.shown(own, 'replyTo { id }')).toEqual({ replyTo: { id: answer } });
});

test('a message of another person, of another channel, or that does not exist cannot be quoted', async () => {
  const [person, other] = [personOf(gateway), personOf(gateway)];
  const [mine, theirs] = [await person.writes('Mine'), await other.writes('Theirs')];
  const before = person.taken().length;
  expect(faultsOf(await person.send({ replyToId: theirs }))).toEqual(NOT_IN_CONVERSATION);
  const { contact } = await person.shown(mine, 'contact { id }');
  expect(faultsOf(await person.send({ replyToId: theirs, to: { contactId: contact.id } }))).toEqual(
    NOT_IN_CONVERSATION,
  );
  expect(faultsOf(await person.send({ replyToId: theirs, expectedContactId: contact.id }))).toEqual(
    NOT_IN_CONVERSATION,
  );
  expect(faultsOf(await person.send({ replyToId: mine, channelId: '999999' }))).toEqual({
    channelId: ['Channel not found.'],
    ...NOT_IN_CONVERSATION,
  });
  const unknown = ['There is no message with this id.'];
  for (const id of ['01890000-0000-7000-8000-000000000000', 'x'])
    expect(faultsOf(await person.send({ replyToId: id }))).toEqual({ replyToId: unknown });
  expect(person.taken()).toHaveLength(before);
});

test('a message that the network has not accepted cannot be quoted', async () => {
  const person = personOf(gateway);
  gateway.emulator.setFaults({ next: [{ errorCode: 131_026, to: person.phone }] });
  const failed = await person.send({ waitForAcceptance: false });
  const { id } = failed.data?.sendMessage.message ?? {};
  await person.shown(id, 'status', { status: 'FAILED' });
  expect(faultsOf(await person.send({ replyToId: id }))).toEqual({
    replyToId: ['The network has not accepted this message, so that it cannot be answered.'],
  });
});

test('a key that was used without a quote is another request with one', async () => {
  const person = personOf(gateway);
  const question = await person.writes('How much?');
  const input = { idempotencyKey: `reply-${person.phone}` };
  const first = await person.sent({ ...input, replyToId: question });
  expect(await person.sent({ ...input, replyToId: question })).toBe(first);
  expect((await person.send(input)).data?.sendMessage.userErrors).toMatchObject([{ code: 'IDEMPOTENCY_MISMATCH' }]);
});
