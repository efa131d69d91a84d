import { afterAll, beforeAll, expect, test } from 'vitest';
import type { CorrectionUpdate } from '../../../../src/features/messages/inbound/corrections.ts';
import { recordEditedOptOuts } from '../../../../src/features/messages/inbound/edited-opt-outs.ts';
import { startGateway, type TestGateway } from '../../../support/gateway.ts';
import { type Harness, harnessFor } from './harness.ts';

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startGateway();
});
afterAll(() => gateway.stop());

const PERSON = '14155550101';
const at = Math.floor(Date.now() / 1_000);
const text = (body: string) => ({ type: 'text', text: { body } });
const message = (id: string, body: string, more: object = {}) => ({
  ...{ from: PERSON, id, timestamp: String(at - 60), ...text(body), ...more },
});
const edit = (id: string, original: string, body: string, more: object = {}) => ({
  ...{ from: PERSON, id, timestamp: String(at - 30), type: 'edit' },
  ...{ edit: { original_message_id: original, message: text(body) }, ...more },
});

const isOptedOut = async (harness: Harness): Promise<boolean> =>
  (await harness.query('select 1 from contacts where tenant_id = $1 and opted_out_at is not null')).length > 0;

test('a person who corrects a message into an opt-out word is opted out, once', async () => {
  const harness = await harnessFor(gateway);
  await harness.tell('messages', { messages: [message('wamid.1', 'Stpo')] });
  expect(await isOptedOut(harness)).toBe(false);
  await harness.tell('messages', { messages: [edit('wamid.2', 'wamid.1', 'Stop.')] });
  expect(await isOptedOut(harness)).toBe(true);
  const answer = await gateway.mutate(
    'sendMessage',
    { to: { phone: `+${PERSON}` }, content: { text: { body: 'Hello' } } },
    'message { id }',
    harness.tenant.token,
  );
  expect(answer.data?.sendMessage.userErrors).toMatchObject([{ code: 'CONTACT_OPTED_OUT' }]);
  await harness.tell('messages', { messages: [edit('wamid.2', 'wamid.1', 'Stop.'), message('wamid.3', 'Hi')] });
  expect(
    await harness.query('select state, source, evidence, occurred_at from consent_entries where tenant_id = $1'),
  ).toEqual([
    {
      ...{ state: 'opted_out', source: 'keyword', evidence: 'wamid.2' },
      occurred_at: new Date((at - 30) * 1_000 + 999),
    },
  ]);
});

test('an opt-out is dated no later than the arrival of its edit, however late it is applied', async () => {
  const harness = await harnessFor(gateway);
  await harness.tell('messages', { messages: [message('wamid.1', 'Stpo')] });
  const [row] = await harness.query<{ id: number; channel_id: number }>(
    'select contact_id::int as id, channel_id::int from messages where tenant_id = $1',
  );
  const update = {
    ...({ kind: 'edit', phoneNumberId: harness.tenant.phoneNumberId, direction: 'inbound' } as const),
    ...{ wamid: 'wamid.2', originalWamid: 'wamid.1', person: {}, at: new Date(at * 1_000) },
    ...{ type: 'text', text: 'STOP', content: null },
  };
  const edited = { channelId: row?.channel_id ?? 0, contactId: row?.id, arrivedMs: at * 1_000 + 200, update };
  await gateway.gateway.resources.db.transaction(trx =>
    recordEditedOptOuts(trx, harness.tenant.id, [edited as CorrectionUpdate], at * 1_000 + 60_000),
  );
  expect(await harness.query('select occurred_at from consent_entries where tenant_id = $1')).toEqual([
    { occurred_at: new Date(at * 1_000 + 200) },
  ]);
});

test('a correction that comes with its message, or before it, opts out too', async () => {
  for (const turns of [
    [[message('wamid.1', 'Stpo'), edit('wamid.2', 'wamid.1', 'stop')]],
    [[edit('wamid.2', 'wamid.1', 'stop')], [message('wamid.1', 'Stpo')]],
  ]) {
    const harness = await harnessFor(gateway);
    for (const messages of turns) await harness.tell('messages', { messages });
    expect(await isOptedOut(harness)).toBe(true);
  }
});

test('an edit opts nobody in, takes no opt-out back, and does not count in a group chat or in the history', async () => {
  const optedOut = await harnessFor(gateway);
  await optedOut.tell('messages', { messages: [message('wamid.1', 'STOP')] });
  for (const body of ['START', 'Please stop calling']) {
    await optedOut.tell('messages', { messages: [edit(`wamid.${body.length}`, 'wamid.1', body)] });
    expect(await isOptedOut(optedOut)).toBe(true);
  }
  const inGroup = await harnessFor(gateway);
  const group = { group_id: 'group-1' };
  await inGroup.tell('messages', {
    messages: [message('wamid.1', 'Stpo', group), edit('wamid.2', 'wamid.1', 'STOP', group)],
  });
  expect(await isOptedOut(inGroup)).toBe(false);
  const past = await harnessFor(gateway);
  const messages = [message('wamid.1', 'Stpo'), edit('wamid.2', 'wamid.1', 'STOP')];
  await past.tell('history', { history: [{ metadata: { phase: 0 }, threads: [{ id: PERSON, messages }] }] });
  expect((await past.messages()).map(({ body }) => body)).toEqual(['STOP']);
  expect(await isOptedOut(past)).toBe(false);
});
