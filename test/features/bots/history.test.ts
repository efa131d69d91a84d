import { afterAll, beforeAll, expect, test } from 'vitest';
import { DAY } from '../../../src/platform/clock.ts';
import { codeOf, dataOf } from '../../support/answers.ts';
import { eventually } from '../../support/gateway.ts';
import { newPhone } from '../../support/seed.ts';
import { type Fixture, type Owner, startFixture } from './fixture.ts';

let fixture: Fixture;
beforeAll(async () => {
  fixture = await startFixture();
});
afterAll(() => fixture.gateway.stop());

const text = (words: string) => ({ text: { text: words } });
const since = () => new Date(Date.now() - 7 * DAY).toISOString();
const HISTORY = `query ($since: DateTime!, $after: String, $botId: ID) {
  previewBotHistory(since: $since, after: $after, botId: $botId) {
    messageCount answeredCount textCount endCursor bots { bot { name } answeredCount }
    texts { text messageCount answeredCount silence lastMessage { id } answers { bot { name } rule { keyword } reply { ... on TextContent { body } } } }
  }
}`;
const historyOf = async (owner: Owner, variables: object = {}) =>
  dataOf(await owner.ask(HISTORY, { since: since(), ...variables })).previewBotHistory;

/** Messages that arrive while there is no bot. */
async function wrote(owner: Owner, messages: readonly (readonly [phone: string, words: string])[]): Promise<void> {
  for (const [index, [from, words]] of messages.entries()) {
    await owner.hears(from, words);
    const inbound = '{ messages(filter: { direction: { eq: INBOUND } }) { totalCount } }';
    await eventually(async () => expect(dataOf(await owner.ask(inbound)).messages.totalCount).toBe(index + 1));
  }
  await owner.settled();
}

test('the messages of a period are tried in their order, with cool-downs, opt-out words and hand-overs of the live bots', async () => {
  const owner = await fixture.tenant();
  const [ana, ben, cleo] = [newPhone(), newPhone(), newPhone()];
  await wrote(owner, [
    [ana, 'Are you open?'],
    [ana, 'are you  OPEN?'],
    [ben, 'Are you open?'],
    [cleo, 'STOP'],
    [ben, 'Thanks!'],
  ]);
  await owner.bot({
    name: 'Hours',
    trigger: 'CONTAINS',
    keywords: ['open'],
    cooldownSeconds: 3_600,
    reply: text('9–17'),
  });
  const anything = await owner.bot({ name: 'Anything', priority: -1, isEnabled: false });
  expect(await historyOf(owner)).toEqual({
    messageCount: 5,
    answeredCount: 2,
    textCount: 3,
    endCursor: null,
    bots: [{ bot: { name: 'Hours' }, answeredCount: 2 }],
    texts: [
      {
        text: 'Are you open?',
        messageCount: 3,
        answeredCount: 2,
        silence: null,
        lastMessage: { id: expect.any(String) },
        answers: [{ bot: { name: 'Hours' }, rule: { keyword: 'open' }, reply: { body: '9–17' } }],
      },
      expect.objectContaining({ text: 'STOP', messageCount: 1, answeredCount: 0, silence: 'OPT_WORD', answers: [] }),
      expect.objectContaining({ text: 'Thanks!', messageCount: 1, answeredCount: 0, silence: null, answers: [] }),
    ],
  });
  // A bot that is not enabled yet is tried by itself.
  const alone = await historyOf(owner, { botId: String(anything) });
  expect(alone).toMatchObject({ answeredCount: 4, bots: [{ bot: { name: 'Anything' }, answeredCount: 4 }] });
  expect(await owner.replies()).toEqual([]);
});

test('the rest of a period is tried from a cursor, and only texts that are answered, or not, are listed', async () => {
  const owner = await fixture.tenant();
  const [ana, ben, cleo] = [newPhone(), newPhone(), newPhone()];
  await wrote(owner, [
    [ana, 'One'],
    [ben, 'Two'],
    [cleo, 'Three'],
  ]);
  await owner.bot({ trigger: 'EXACT', keywords: ['two'] });
  const [first] = await fixture.gateway.database.query<{ id: string }>(
    "select id from messages where tenant_id = $1 and body = 'One'",
    [owner.id],
  );
  const rest = await historyOf(owner, { after: first?.id });
  expect(rest).toMatchObject({ messageCount: 2, answeredCount: 1, endCursor: null });
  const listed = dataOf(
    await owner.ask(
      `query ($since: DateTime!) { previewBotHistory(since: $since) {
        answered: texts(isAnswered: true) { text } others: texts(isAnswered: false, first: 1) { text }
      } }`,
      { since: since() },
    ),
  ).previewBotHistory;
  expect(listed).toEqual({ answered: [{ text: 'Two' }], others: [{ text: 'One' }] });
  expect(await historyOf(owner, { since: new Date().toISOString() })).toMatchObject({ messageCount: 0, texts: [] });
});

test('a malformed cursor and an unknown bot are refused', async () => {
  const owner = await fixture.tenant();
  expect(codeOf(await owner.ask(HISTORY, { since: since(), after: 'x' }))).toBe('VALIDATION_ERROR');
  expect(codeOf(await owner.ask(HISTORY, { since: since(), botId: '999999' }))).toBe('NOT_FOUND');
});
