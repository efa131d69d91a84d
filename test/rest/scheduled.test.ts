import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { eventually, startGateway, type TestGateway, type TestTenant } from '../support/gateway.ts';
import { newPhone } from '../support/seed.ts';
import { legacyOf, type Rest, restOf } from './client.ts';

let gateway: TestGateway;
let rest: Rest;
let tenant: TestTenant;
beforeAll(async () => {
  gateway = await startGateway();
  gateway.emulator.setFaults({ window: 'open' });
  tenant = await gateway.addTenant({ plan: 'standard' });
  rest = restOf(gateway, tenant);
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

/** A year with a 30th of February that Date.parse takes, within the year ahead. */
const FEBRUARY = new Date(Date.now() + 300 * 86_400_000).getUTCFullYear();

test.each([
  `hello world ${NEXT_WEEK.slice(0, 10)}`,
  `${FEBRUARY}-02-30T10:00:00Z`,
  `${new Date(NEXT_WEEK).toLocaleDateString('en-US')}, 5:00:00 PM`,
  NEXT_WEEK.slice(0, 10),
])('%s is no time: of no version, and of no new time', async at => {
  const id = await schedule(newPhone());
  const fieldsOf = (answer: object): string[] => Object.keys(answer);
  const sent = await rest('POST', '/messages/text', { phone: newPhone(), message: 'Later', scheduled_at: at });
  expect([sent.status, fieldsOf(sent.body.error.details)]).toEqual([422, ['scheduled_at']]);
  const moved = await rest('POST', `/messages/${id}/reschedule`, { scheduled_at: at });
  expect([moved.status, fieldsOf(moved.body.error.details)]).toEqual([422, ['scheduled_at']]);
  const body = { phone_number: newPhone(), message_body: 'Later', scheduled_at: at };
  const old = await legacyOf(gateway, tenant)('POST', '/messages/send', body);
  expect([old.status, fieldsOf(old.body.errors)]).toEqual([422, ['scheduled_at']]);
});

test('a time without an offset is one in UTC, whatever the zone of the server', async () => {
  const zone = process.env['TZ'];
  process.env['TZ'] = 'America/New_York';
  onTestFinished(() => {
    if (zone === undefined) Reflect.deleteProperty(process.env, 'TZ');
    else process.env['TZ'] = zone;
  });
  const at = NEXT_WEEK.slice(0, 19);
  const { body } = await rest('POST', '/messages/text', { phone: newPhone(), message: 'Later', scheduled_at: at });
  const found = await rest('GET', `/messages/${body.data.chat_message_id}`);
  expect(found.body.data.scheduled_at).toBe(`${at}+00:00`);
});
