import { afterAll, beforeAll, expect, test } from 'vitest';
import { eventually, startGateway, type TestGateway } from '../../support/gateway.ts';
import { newPhone, seedOf } from '../../support/seed.ts';

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startGateway({ emulator: { faults: { webhookConnections: 1 } } });
});
afterAll(() => gateway.stop());

test('events say which contact and conversation they are about, however they were written', async () => {
  const { id, phone } = await seedOf(gateway).contact();
  const sent = await gateway.rest('POST', '/messages/text', { phone, message: 'hello' });
  const { data } = (await sent.json()) as { data: { contact_id?: number } };
  expect(data).toBeDefined();
  await gateway.rest('POST', '/messages/text', { phone: newPhone(), message: 'hello, new one' });
  const events = () =>
    gateway.database.query<{ type: string; contact_id: string | null; conversation_id: string | null; body: object }>(
      `select type, contact_id, conversation_id, payload as body from events where type ~ '^(contact|message)\\.' order by xid, seq`,
    );
  const seen = await eventually(async () => {
    const rows = await events();
    expect(rows.filter(({ type }) => type === 'message.sent').length).toBe(2);
    return rows;
  });
  expect(seen.filter(({ contact_id }) => contact_id === null)).toEqual([]);
  expect(
    seen.filter(({ type, conversation_id }) => type.startsWith('message.') === (conversation_id === null)),
  ).toEqual([]);
  expect(new Set(seen.map(({ contact_id }) => contact_id)).size).toBe(2);
  expect(seen[0]?.contact_id).toBe(String(id));
});
