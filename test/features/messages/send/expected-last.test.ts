import { afterAll, beforeAll, expect, test } from 'vitest';
import { codeOf, dataOf, faultsOf, payloadOf } from '../../../support/answers.ts';
import { startGateway, type TestGateway } from '../../../support/gateway.ts';
import { type Person, personOf } from './answering.ts';

let gateway: TestGateway;
/** Sessions of two agents. */
let ines: string;
let tom: string;
beforeAll(async () => {
  gateway = await startGateway();
  [ines, tom] = [await session('Ines'), await session('Tom')];
});
afterAll(() => gateway.stop());

async function session(name: string): Promise<string> {
  const input = { name, email: `${name}@example.com`, role: 'AGENT' };
  const { staffMember } = payloadOf(await gateway.mutate('createStaffMember', input, 'staffMember { id }'));
  const minted = { staffMember: { id: staffMember.id }, documentsOnly: false, origins: [], callsPerMinute: 6_000 };
  return payloadOf(await gateway.mutate('createStaffSession', minted, 'token')).token as string;
}

const DOCUMENT = `mutation ($input: SendMessageInput!) { sendMessage(input: $input) { message { id } userErrors {
  __typename code message path ... on ConflictError { current { ... on Message { id previewText sentBy { displayName } } } } } } }`;

interface Sent {
  readonly message: { readonly id: string } | null;
  readonly userErrors: readonly { readonly code: string; readonly current?: unknown }[];
}

async function answer(person: Person, token: string, body: string, input: object = {}): Promise<Sent> {
  const fields = { to: { phone: person.phone }, content: { text: { body } }, ...input };
  return (await gateway.graphql(DOCUMENT, { input: fields }, token)).data.sendMessage as Sent;
}

test('an answer is held back if a colleague has answered after the message that its sender knows', async () => {
  const person = personOf(gateway);
  const question = await person.writes('Is it open?');
  const first = await answer(person, ines, 'Yes', { expectedLastMessageId: question });
  const held = await answer(person, tom, 'No', { expectedLastMessageId: question });
  expect(held).toMatchObject({
    message: null,
    userErrors: [
      {
        __typename: 'ConflictError',
        code: 'CONFLICT',
        current: { id: first.message?.id, previewText: 'Yes', sentBy: { displayName: 'Ines' } },
      },
    ],
  });
  const known = await answer(person, tom, 'Only until 5', { expectedLastMessageId: first.message?.id });
  expect(known.userErrors).toEqual([]);
  expect((await answer(person, tom, 'Sorry')).userErrors).toEqual([]);
});

test('messages of the sender, of the person, and cancelled ones hold nothing back; a scheduled one does', async () => {
  const person = personOf(gateway);
  const question = await person.writes('Is it open?');
  expect((await answer(person, ines, 'One moment', { expectedLastMessageId: question })).userErrors).toEqual([]);
  await person.writes('Thanks');
  expect((await answer(person, ines, 'Yes', { expectedLastMessageId: question })).userErrors).toEqual([]);
  const other = personOf(gateway);
  const asked = await other.writes('And you?');
  const scheduledAt = { instant: new Date(Date.now() + 3_600_000).toISOString() };
  const later = await answer(other, ines, 'Tomorrow', { scheduledAt });
  expect(later.userErrors).toEqual([]);
  expect((await answer(other, tom, 'Today', { expectedLastMessageId: asked })).userErrors).toMatchObject([
    { code: 'CONFLICT' },
  ]);
  payloadOf(await gateway.mutate('cancelMessage', { id: later.message?.id }));
  expect((await answer(other, tom, 'Today', { expectedLastMessageId: asked })).userErrors).toEqual([]);
});

test('of many who answer the same message at once, one is accepted', async () => {
  const person = personOf(gateway);
  const question = await person.writes('Who is first?');
  const tokens = await Promise.all(['A', 'B', 'C', 'D', 'E'].map(session));
  const sent = await Promise.all(
    tokens.map((token, index) => answer(person, token, `I am ${index}`, { expectedLastMessageId: question })),
  );
  expect(sent.filter(({ message }) => message)).toHaveLength(1);
  expect(sent.flatMap(({ userErrors }) => userErrors.map(({ code }) => code))).toEqual(Array(4).fill('CONFLICT'));
});

test('a batch holds back what is not the first answer, and one that is to be rolled back accepts nothing', async () => {
  const [free, taken] = [personOf(gateway), personOf(gateway)];
  const [first, second] = [await free.writes('Hello'), await taken.writes('Hello')];
  await answer(taken, ines, 'Hello');
  const messages = [
    { to: { phone: free.phone }, content: { text: { body: 'Hi' } }, expectedLastMessageId: first },
    { to: { phone: taken.phone }, content: { text: { body: 'Hi' } }, expectedLastMessageId: second },
  ];
  const selection = 'results { outcome userErrors { code } } summary { succeeded isRolledBack }';
  const whole = { messages, onError: 'ROLL_BACK' };
  expect(dataOf(await gateway.graphql(batch(selection), { input: whole }, tom)).sendMessages).toMatchObject({
    results: [{ outcome: 'ROLLED_BACK' }, { outcome: 'FAILED', userErrors: [{ code: 'CONFLICT' }] }],
    summary: { succeeded: 0, isRolledBack: true },
  });
  expect(dataOf(await gateway.graphql(batch(selection), { input: { messages } }, tom)).sendMessages).toMatchObject({
    results: [{ outcome: 'CREATED' }, { outcome: 'FAILED', userErrors: [{ code: 'CONFLICT' }] }],
    summary: { succeeded: 1, isRolledBack: false },
  });
});

const batch = (selection: string) =>
  `mutation ($input: SendMessagesInput!) { sendMessages(input: $input) { ${selection} } }`;

test('the expected message has to be one of the conversation', async () => {
  const [person, other] = [personOf(gateway), personOf(gateway)];
  const [mine, theirs] = [await person.writes('Mine'), await other.writes('Theirs')];
  const { conversation } = await person.shown(mine, 'conversation { id }');
  const send = (expectedLastMessageId: string) =>
    person.send({ to: { conversationId: conversation.id }, expectedLastMessageId });
  expect(faultsOf(await send(theirs))).toEqual({
    expectedLastMessageId: ['Is not a message of the conversation with this recipient.'],
  });
  expect(faultsOf(await send('01890000-0000-7000-8000-000000000000'))).toEqual({
    expectedLastMessageId: ['There is no message with this id.'],
  });
  expect(codeOf(await send(mine))).toBeUndefined();
});

test('a token that may not read messages is not shown the answer of the conflict', async () => {
  const person = personOf(gateway);
  const question = await person.writes('Secret?');
  await answer(person, ines, 'Very');
  const token = await gateway.addToken(gateway.tenant, { scopes: ['messages:send'] });
  const held = await answer(person, token, 'No', { expectedLastMessageId: question });
  expect(held.userErrors).toMatchObject([{ code: 'CONFLICT', current: null }]);
});
