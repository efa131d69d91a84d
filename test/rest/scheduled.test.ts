import { afterAll, beforeAll, expect, test } from 'vitest';
import { eventually, startGateway, type TestGateway } from '../support/gateway.ts';
import { newPhone } from '../support/seed.ts';
import { type Rest, restOf } from './client.ts';

let gateway: TestGateway;
let rest: Rest;
beforeAll(async () => {
  gateway = await startGateway();
  gateway.emulator.setFaults({ window: 'open' });
  rest = restOf(gateway, await gateway.addTenant({ plan: 'standard' }));
});
afterAll(() => gateway.stop());

const NEXT_WEEK = new Date(Date.now() + 7 * 86_400_000).toISOString();
const TOMORROW = new Date(Date.now() + 86_400_000).toISOString();
/** As the interface writes a time. */
const shown = (time: string) => time.replace(/\.\d+Z$/, '+00:00');

async function schedule(phone: string): Promise<string> {
  const { body } = await rest('POST', '/messages/text', { phone, message: 'Later', scheduled_at: NEXT_WEEK });
  return body.data.chat_message_id;
}

test('a scheduled message gets another time and is cancelled, and is not sent', async () => {
  const phone = newPhone();
  const id = await schedule(phone);
  const moved = await rest('POST', `/messages/${id}/reschedule`, { scheduled_at: TOMORROW });
  expect([moved.status, moved.body.data]).toEqual([200, { id, status: 'queued', scheduled_at: shown(TOMORROW) }]);
  const cancelled = await rest('POST', `/messages/${id}/cancel`);
  expect([cancelled.status, cancelled.body.data]).toEqual([
    200,
    { id, status: 'failed', scheduled_at: shown(TOMORROW) },
  ]);
  expect((await rest('POST', `/messages/${id}/reschedule`, { scheduled_at: TOMORROW })).status).toBe(409);
  expect(gateway.emulator.sent({ to: phone }).matched).toBe(0);
});

test('a scheduled message is in the history, queued, with the time at which it is to be sent', async () => {
  const id = await schedule(newPhone());
  const expected = { id, status: 'queued', scheduled_at: shown(NEXT_WEEK), sent_at: null };
  expect((await rest('GET', `/messages/${id}`)).body.data).toMatchObject(expected);
  const { body } = await rest('GET', '/messages?filter[status]=queued&fields=id,status,scheduled_at,sent_at');
  expect(body.data).toContainEqual(expected);
});

test('a repetition with the same key is answered as the first', async () => {
  const id = await schedule(newPhone());
  const headers = { 'idempotency-key': `move ${id}` };
  const [first, again] = [
    await rest('POST', `/messages/${id}/reschedule`, { scheduled_at: TOMORROW }, headers),
    await rest('POST', `/messages/${id}/reschedule`, { scheduled_at: TOMORROW }, headers),
  ];
  expect(again.body.data).toEqual(first.body.data);
  expect((await rest('POST', `/messages/${id}/reschedule`, { scheduled_at: NEXT_WEEK }, headers)).body.error.code).toBe(
    'IDEMPOTENCY_MISMATCH',
  );
});

test('an invalid, missing or past time is a field error, and a message that was sent is a conflict', async () => {
  const id = await schedule(newPhone());
  for (const body of [{}, { scheduled_at: 'soon' }, { scheduled_at: '' }, { scheduled_at: '2020-01-01T00:00:00Z' }]) {
    const { status, body: answer } = await rest('POST', `/messages/${id}/reschedule`, body);
    expect([status, Object.keys(answer.error.details)]).toEqual([422, ['scheduled_at']]);
  }
  const phone = newPhone();
  const sent = await rest('POST', '/messages/text', { phone, message: 'Now' });
  await eventually(() => expect(gateway.emulator.sent({ to: phone }).matched).toBe(1));
  const now = sent.body.data.chat_message_id;
  expect((await rest('POST', `/messages/${now}/cancel`)).status).toBe(409);
  expect((await rest('POST', `/messages/${now}/reschedule`, { scheduled_at: TOMORROW })).status).toBe(409);
  expect((await rest('POST', '/messages/00000000-0000-7000-8000-000000000000/cancel')).status).toBe(404);
  expect((await rest('POST', '/messages/12/cancel')).status).toBe(404);
});
