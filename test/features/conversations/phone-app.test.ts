import { afterAll, beforeAll, expect, test } from 'vitest';
import { payloadOf } from '../../support/answers.ts';
import { startGateway, type TestGateway } from '../../support/gateway.ts';
import { type Harness, harnessFor } from '../messages/inbound/harness.ts';

/** Webhooks of messages and of answers with the phone app arrive in any order. */

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startGateway({ emulator: { faults: { userIds: false } } });
});
afterAll(() => gateway.stop());

const ANA = '14155550101';
const startMs = Math.floor(Date.now() / 1_000) * 1_000 - 60_000;
const isoAt = (second: number): string => new Date(startMs + second * 1_000).toISOString();
const content = (id: string, second: number) => ({
  id: `wamid.${id}`,
  timestamp: String(startMs / 1_000 + second),
  type: 'text',
  text: { body: id },
});
const message = (id: string, second: number) => ({
  field: 'messages',
  value: { contacts: [{ wa_id: ANA }], messages: [{ from: ANA, ...content(id, second) }] },
});
const answer = (id: string, second: number) => ({
  field: 'smb_message_echoes',
  value: { message_echoes: [{ from: '15550780000', to: ANA, ...content(id, second) }] },
});
async function tell(harness: Harness, ...changes: ReturnType<typeof message | typeof answer>[]): Promise<void> {
  for (const { field, value } of changes) await harness.tell(field, value);
}
async function stateOf(harness: Harness) {
  const [row] = await harness.query<{ unread_count: number; waiting_since: Date | null; status: string }>(
    'select unread_count, waiting_since, status from conversations where tenant_id = $1',
  );
  return row && { ...row, waiting_since: row.waiting_since?.toISOString() ?? null };
}

test('an answer that arrives late leaves unread and waiting what the person wrote after it', async () => {
  const harness = await harnessFor(gateway);
  await tell(harness, message('Question', 10), message('Reply', 30), message('Another', 40), answer('Answer', 20));
  expect(await stateOf(harness)).toEqual({ unread_count: 2, waiting_since: isoAt(30), status: 'open' });
});

test('an answer that arrives late makes nothing unread or waiting again', async () => {
  const harness = await harnessFor(gateway);
  await tell(harness, message('Question', 10), message('Reply', 30));
  await harness.query('update conversations set unread_count = 0, waiting_since = null where tenant_id = $1');
  await tell(harness, answer('Answer', 20));
  expect(await stateOf(harness)).toEqual({ unread_count: 0, waiting_since: null, status: 'open' });
});

test('a message that arrives after the answer to it is neither unread nor waiting', async () => {
  const harness = await harnessFor(gateway);
  await tell(harness, message('Question', 10), answer('Answer', 30), message('Late', 20));
  expect(await stateOf(harness)).toEqual({ unread_count: 0, waiting_since: null, status: 'open' });
  await tell(harness, message('Reply', 40));
  expect(await stateOf(harness)).toEqual({ unread_count: 1, waiting_since: isoAt(40), status: 'open' });
});

test('a message that arrives after a send through the gateway is unread and waits: nobody has seen it', async () => {
  const harness = await harnessFor(gateway);
  await tell(harness, message('Question', 10));
  const input = { to: { phone: `+${ANA}` }, content: { text: { body: 'Hello' } } };
  payloadOf(await gateway.mutate('sendMessage', input, 'message { status }', harness.tenant.token));
  await tell(harness, message('Late', 20));
  expect(await stateOf(harness)).toEqual({ unread_count: 2, waiting_since: isoAt(20), status: 'open' });
});
