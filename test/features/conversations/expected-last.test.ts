import { afterAll, beforeAll, expect, test } from 'vitest';
import { codeOf, dataOf, faultsOf, payloadOf } from '../../support/answers.ts';
import { eventually, startGateway, type TestGateway } from '../../support/gateway.ts';
import { type Person, personOf } from '../messages/send/answering.ts';

/** A conversation is not closed over a message that its closer does not know. */
let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startGateway();
});
afterAll(() => gateway.stop());

const SELECTION = `conversation { id } userErrors { __typename code message path
  ... on ConflictError { current { ... on Message { id previewText } ... on Conversation { id } } } }`;
const update = (input: object, token?: string) => gateway.mutate('updateConversation', input, SELECTION, token);

/** The conversation of a message. */
async function conversationOf(messageId: string): Promise<{ id: string; status: string; unreadCount: number }> {
  const document = 'query ($id: ID!) { message(id: $id) { conversation { id status unreadCount } } }';
  return dataOf(await gateway.graphql(document, { id: messageId })).message.conversation;
}

async function begin(): Promise<{ person: Person; id: string; question: string }> {
  const person = personOf(gateway);
  const question = await person.writes('Is it open?');
  return { person, question, id: (await conversationOf(question)).id };
}

test('a conversation is not closed if the person has written after the message that its closer knows', async () => {
  const { person, id, question } = await begin();
  const answer = await person.sent();
  const news = await person.writes('And tomorrow?');
  for (const expectedLastMessageId of [question, answer]) {
    const { updateConversation } = (await update({ id, status: 'CLOSED', expectedLastMessageId })).data;
    expect(updateConversation).toMatchObject({
      conversation: null,
      userErrors: [
        { __typename: 'ConflictError', code: 'CONFLICT', current: { id: news, previewText: 'And tomorrow?' } },
      ],
    });
  }
  expect(await conversationOf(news)).toMatchObject({ status: 'OPEN', unreadCount: 2 });
  payloadOf(await update({ id, status: 'CLOSED', expectedLastMessageId: news }));
  expect(await conversationOf(news)).toMatchObject({ status: 'CLOSED' });
});

test('what the business has sent, reactions and system messages do not keep a conversation open', async () => {
  const { person, id, question } = await begin();
  await person.sent();
  const { phoneNumberId } = gateway.tenant;
  const from = person.phone.slice(1);
  for (const more of [
    { type: 'reaction', messageId: 'wamid.x', emoji: '👍' },
    { type: 'system', newPhone: '14155559999' },
  ] as const)
    gateway.emulator.inbound({ phoneNumberId, from, ...more });
  await eventually(async () =>
    expect(
      await gateway.database.query(
        `select type from messages where conversation_id = $1 and direction = 'inbound' and type <> 'text'`,
        [(await decoded(id)).databaseId],
      ),
    ).not.toHaveLength(0),
  );
  payloadOf(await update({ id, status: 'CLOSED', expectedLastMessageId: question }));
  expect(await conversationOf(question)).toMatchObject({ status: 'CLOSED' });
});

const decoded = async (id: string): Promise<{ databaseId: string }> =>
  dataOf(await gateway.graphql('query ($id: ID!) { conversation(id: $id) { databaseId } }', { id })).conversation;

test('a late message, which stands above those that its closer knows, keeps the conversation open', async () => {
  const { person, id, question } = await begin();
  const { phoneNumberId } = gateway.tenant;
  const from = person.phone.slice(1);
  const wamid = `wamid.late.${from}`;
  const timestamp = String(Math.floor(Date.now() / 1_000) - 3_600);
  const message = { from, id: wamid, timestamp, type: 'text', text: { body: 'Late' } };
  const answer = await fetch(`${gateway.emulator.url}/_emulator/changes`, {
    method: 'POST',
    body: JSON.stringify({
      phoneNumberId,
      field: 'messages',
      value: { contacts: [{ wa_id: from }], messages: [message] },
    }),
  });
  expect(answer.status).toBe(200);
  const late = await eventually(async () => {
    const found = await gateway.graphql(
      'query ($w: String!) { messages(filter: { wamid: { eq: $w } }) { nodes { id } } }',
      { w: wamid },
    );
    expect(dataOf(found).messages.nodes).toHaveLength(1);
    return dataOf(found).messages.nodes[0].id as string;
  });
  const { updateConversation } = (await update({ id, status: 'CLOSED', expectedLastMessageId: question })).data;
  expect(updateConversation.userErrors).toMatchObject([{ code: 'CONFLICT', current: { id: late } }]);
  payloadOf(await update({ id, status: 'CLOSED', expectedLastMessageId: late }));
});

test('the expected message must be of the conversation; a token that may not read messages does not see the new one', async () => {
  const [one, other] = [await begin(), await begin()];
  for (const expectedLastMessageId of [
    other.question,
    crypto.randomUUID(),
    'x',
    '00000000-0000-0000-0000-000000000000',
  ])
    expect(faultsOf(await update({ id: one.id, status: 'CLOSED', expectedLastMessageId }))).toEqual({
      expectedLastMessageId: ['There is no message with this id in the conversation.'],
    });
  await one.person.writes('And tomorrow?');
  const token = await gateway.addToken(gateway.tenant, { scopes: ['conversations:write', 'conversations:read'] });
  const refused = await update({ id: one.id, status: 'CLOSED', expectedLastMessageId: one.question }, token);
  expect(codeOf(refused)).toBe('CONFLICT');
  expect(refused.data.updateConversation.userErrors).toMatchObject([{ current: null }]);
});

test('the present conversation is told where another assignee was expected', async () => {
  const { id, question } = await begin();
  const { staffMember } = payloadOf(
    await gateway.mutate(
      'createStaffMember',
      { name: 'Ines', email: 'ines@example.com', role: 'AGENT' },
      'staffMember { id }',
    ),
  );
  const input = { id, status: 'CLOSED', expectedAssigneeId: staffMember.id, expectedLastMessageId: question };
  expect((await update(input)).data.updateConversation.userErrors).toMatchObject([
    { code: 'CONFLICT', current: { id } },
  ]);
});
