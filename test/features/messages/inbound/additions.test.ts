import { afterAll, beforeAll, expect, test } from 'vitest';
import { dataOf } from '../../../support/answers.ts';
import { startGateway, type TestGateway } from '../../../support/gateway.ts';
import { type Harness, harnessFor } from './harness.ts';

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startGateway();
});
afterAll(() => gateway.stop());

const FROM = '+14155550101';
const at = Math.floor(Date.now() / 1_000);
const ADDITIONS = `wamid text editedAt revokedAt forwarding
  edits { text createdAt } reactions { emoji direction contact { phone } createdAt }
  referral { sourceType sourceId sourceUrl headline body clickId }`;

const shown = async ({ tenant }: Harness) => {
  const query = `{ messages(orderBy: [{ field: ID, direction: ASC }]) { nodes { networkType ${ADDITIONS} } } }`;
  return dataOf(await gateway.graphql(query, {}, tenant.token)).messages.nodes;
};
const react = (harness: Harness, messageId: string, emoji: string) =>
  harness.write({ type: 'reaction', from: FROM, messageId, emoji });
const time = expect.stringMatching(/Z$/);

test('a message without additions has none', async () => {
  const harness = await harnessFor(gateway);
  await harness.write({ from: FROM, text: 'Plain' });
  expect(await shown(harness)).toMatchObject([
    { editedAt: null, revokedAt: null, forwarding: 'NONE', edits: [], reactions: [], referral: null },
  ]);
});

test('forwarding and the ad that a person came from are shown', async () => {
  const harness = await harnessFor(gateway);
  const referral = {
    source_type: 'ad',
    source_id: '120',
    source_url: 'https://fb.me/x',
    headline: 'Sale',
    ctwa_clid: 'c1',
  };
  await harness.write({ from: FROM, text: 'From an ad', referral });
  await harness.write({ from: FROM, text: 'Forwarded', forwarded: true });
  await harness.write({ from: FROM, text: 'A chain letter', frequentlyForwarded: true });
  expect(await shown(harness)).toMatchObject([
    {
      forwarding: 'NONE',
      referral: { sourceType: 'ad', sourceId: '120', sourceUrl: 'https://fb.me/x', headline: 'Sale', clickId: 'c1' },
    },
    { forwarding: 'FORWARDED', referral: null },
    { forwarding: 'FREQUENTLY_FORWARDED', referral: null },
  ]);
});

test('edits show the earlier texts in their order, and a revoked message keeps its content', async () => {
  const harness = await harnessFor(gateway);
  const wamid = await harness.write({ from: FROM, text: 'Helo' });
  const change = (id: string, seconds: number, part: object) =>
    harness.tell('messages', {
      messages: [{ from: FROM.slice(1), id, timestamp: String(at + seconds), ...part }],
    });
  for (const [seconds, body] of [
    [1, 'Hello'],
    [2, 'Hello!'],
  ] as const)
    await change(`wamid.e${seconds}`, seconds, {
      type: 'edit',
      edit: { original_message_id: wamid, message: { type: 'text', text: { body } } },
    });
  await change('wamid.r', 3, { type: 'revoke', revoke: { original_message_id: wamid } });
  const [message] = await shown(harness);
  expect(message).toMatchObject({ text: 'Hello!', editedAt: time, revokedAt: time });
  expect(message.edits).toEqual([
    { text: 'Helo', createdAt: time },
    { text: 'Hello', createdAt: time },
  ]);
});

test('of each person the last reaction is shown; one that was taken back is not', async () => {
  const harness = await harnessFor(gateway);
  const first = await harness.write({ from: FROM, text: 'One' });
  const second = await harness.write({ from: FROM, text: 'Two' });
  await react(harness, first, '👍');
  await react(harness, first, '❤️');
  await react(harness, second, '😀');
  await react(harness, second, '');
  const texts = (await shown(harness)).filter(({ networkType }: { networkType: string }) => networkType === 'text');
  expect(texts.map(({ reactions }: { reactions: unknown }) => reactions)).toEqual([
    [{ emoji: '❤️', direction: 'INBOUND', contact: { phone: FROM }, createdAt: time }],
    [],
  ]);
});

test('additions of a page take one statement each', async () => {
  const harness = await harnessFor(gateway);
  for (const text of ['One', 'Two', 'Three']) await react(harness, await harness.write({ from: FROM, text }), '👍');
  gateway.statements.length = 0;
  expect(await shown(harness)).toHaveLength(6);
  const reads = (table: string) => gateway.statements.filter(text => text.includes(table)).length;
  expect(['message_details', 'message_reactions', 'message_edits'].map(reads)).toEqual([1, 1, 1]);
});
