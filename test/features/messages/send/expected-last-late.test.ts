import { afterAll, beforeAll, expect, test } from 'vitest';
import { codeOf } from '../../../support/answers.ts';
import { startGateway, type TestGateway } from '../../../support/gateway.ts';
import { harnessFor } from '../inbound/harness.ts';

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startGateway();
});
afterAll(() => gateway.stop());

const PERSON = '14155550161';

/** A person who asks, and an answer that is written with the phone app before that, and arrives after it. */
async function lateAnswer() {
  const harness = await harnessFor(gateway);
  const answer = async (body: string, expectedLastMessageId?: string, token = harness.tenant.token) => {
    const input = { to: { phone: `+${PERSON}` }, content: { text: { body } }, expectedLastMessageId };
    return codeOf(await gateway.mutate('sendMessage', input, 'message { databaseId }', token));
  };
  const idOf = async (body: string): Promise<string> => {
    const found = (await harness.messages()).find(message => message.body === body);
    expect(found).toBeDefined();
    return found?.id ?? '';
  };
  await harness.write({ from: PERSON, text: 'Is it open?' });
  const arrive = () =>
    harness.tell('smb_message_echoes', {
      message_echoes: [
        {
          from: '15550780000',
          to: PERSON,
          id: 'wamid.late',
          timestamp: String(Math.floor(Date.now() / 1_000) - 60),
          type: 'text',
          text: { body: 'From 9 to 5' },
        },
      ],
    });
  return { harness, answer, idOf, arrive };
}

test('an answer of the phone app that arrives late holds back what its sender wrote without it', async () => {
  const { answer, idOf, arrive } = await lateAnswer();
  const question = await idOf('Is it open?');
  await arrive();
  const late = await idOf('From 9 to 5');
  // It stands above the question, because it was written earlier.
  expect(late < question).toBe(true);
  expect(await answer('Yes', question)).toBe('CONFLICT');
  expect(await answer('Until 5', late)).toBeUndefined();
});

test('a sender who has seen the late answer may answer, although messages that arrived before it are dated later', async () => {
  const { harness, answer, idOf, arrive } = await lateAnswer();
  const other = await gateway.addToken(harness.tenant, {});
  expect(await answer('One moment', undefined, other)).toBeUndefined();
  await arrive();
  expect(await answer('Until 5', await idOf('From 9 to 5'))).toBeUndefined();
  expect(await answer('Sorry', await idOf('One moment'), other)).toBe('CONFLICT');
});
