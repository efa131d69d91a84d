import { createHmac } from 'node:crypto';
import { Webhook } from 'standardwebhooks';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { MINUTE, SECOND } from '../../../../src/platform/clock.ts';
import { eventually, type TestGateway } from '../../../support/gateway.ts';
import { type Receiver, startReceiver } from '../receiver.ts';
import { attempted, createEndpoint, deliveries, makeGroups, pass, startHooks, wake } from '../setup.ts';

let gateway: TestGateway;
let receiver: Receiver;
beforeAll(async () => {
  [gateway, receiver] = await Promise.all([
    startHooks({ env: { PARLEY_WEBHOOK_TIMEOUT_MS: '60000' } }),
    startReceiver(),
  ]);
});
afterAll(async () => {
  await gateway.stop();
  await receiver.stop();
});
beforeEach(() => receiver.answer(200));

test('an event reaches each subscribed endpoint, in order, with signatures for Standard Webhooks and for older receivers', async () => {
  const all = await createEndpoint(gateway, { url: `${receiver.url}/all`, events: ['group.*'] });
  await createEndpoint(gateway, { url: `${receiver.url}/contacts`, events: ['contact.*'] });
  const names = Array.from({ length: 30 }, (_, index) => `ordered ${index}`);
  await makeGroups(gateway, names);
  await eventually(() => expect(receiver.at('/all')).toHaveLength(30));
  expect(receiver.at('/all').map(({ body }) => body.data.group.name)).toEqual(names);
  expect(receiver.at('/contacts')).toEqual([]);
  for (const { headers, text, body } of receiver.at('/all')) {
    expect(body).toEqual({ type: 'group.created', timestamp: expect.any(String), data: { group: expect.any(Object) } });
    expect(new Webhook(all.secret).verify(text, headers as Record<string, string>)).toEqual(body);
    expect(headers['x-webhook-signature']).toBe(createHmac('sha256', all.secret).update(text).digest('hex'));
    expect(headers).toMatchObject({
      'content-type': 'application/json',
      'x-webhook-event': 'group.created',
      'user-agent': expect.stringMatching(/^Parley\/\d/),
    });
  }
  expect(receiver.connections()).toBeLessThan(5);
});

test('a receiver that fails three times gets the event again at the times of the table, the later ones meanwhile, always under the same id and with the same body', async () => {
  const { id, secret } = await createEndpoint(gateway, { url: `${receiver.url}/flaky`, events: ['group.created'] });
  let failures = 3;
  const queued = Promise.withResolvers<void>();
  receiver.answer(async (got, response) => {
    const fails = got.path === '/flaky' && got.body.data.group.name === 'first' && failures-- > 0;
    // The first retry comes five seconds later, which a busy machine needs for the other events.
    if (fails) await queued.promise;
    response.writeHead(fails ? 503 : 200).end(fails ? 'not now' : 'ok');
  });
  await makeGroups(gateway, ['first', 'second', 'third']);
  await eventually(async () => expect(await deliveries(gateway, id)).toHaveLength(3));
  queued.resolve();
  await attempted(gateway, id, 3);
  const waits: number[] = [];
  for (const [ms, attempts] of [
    [5 * SECOND, 4],
    [5 * MINUTE, 5],
    [30 * MINUTE, 6],
  ] as const) {
    const [waiting] = (await deliveries(gateway, id)).filter(row => row.status === 'PENDING');
    waits.push(Date.parse(waiting.nextAttemptAt) - Date.parse(waiting.attempts.at(-1).occurredAt));
    await pass(gateway, id, ms * 1.11 + SECOND);
    wake(gateway, id);
    await attempted(gateway, id, attempts);
  }
  const rows = await deliveries(gateway, id);
  expect(rows.map(row => [row.status, row.attemptCount])).toEqual([
    ['DELIVERED', 4],
    ['DELIVERED', 1],
    ['DELIVERED', 1],
  ]);
  const [first] = rows;
  expect(first.attempts.map((one: { status: number; response: string }) => [one.status, one.response])).toEqual([
    [503, 'not now'],
    [503, 'not now'],
    [503, 'not now'],
    [200, 'ok'],
  ]);
  const times = first.attempts.map((one: { occurredAt: string }) => Date.parse(one.occurredAt));
  // Counted from when the attempt was written: so much more for the answer, and for a slow machine.
  for (const [index, ms] of [5 * SECOND, 5 * MINUTE, 30 * MINUTE].entries()) {
    expect(waits[index]).toBeGreaterThanOrEqual(ms);
    expect(waits[index]).toBeLessThan(ms * 1.11 + MINUTE);
  }
  const got = receiver.at('/flaky');
  expect(got.map(({ body }) => body.data.group.name)).toEqual(['first', 'second', 'third', 'first', 'first', 'first']);
  const ofFirst = got.filter(({ body }) => body.data.group.name === 'first');
  expect(new Set(ofFirst.map(({ headers }) => headers['webhook-id']))).toEqual(new Set([first.databaseId]));
  expect(new Set(ofFirst.map(({ text }) => text)).size).toBe(1);
  for (const { headers, text } of got) {
    const { 'webhook-id': webhookId = '', 'webhook-timestamp': timestamp = '' } = headers as Record<string, string>;
    const signed = new Webhook(secret).sign(webhookId, new Date(Number(timestamp) * SECOND), text);
    expect(headers['webhook-signature']).toBe(signed);
  }
  const stamps = ofFirst.map(({ headers }) => Number(headers['webhook-timestamp']) * SECOND);
  expect(stamps).toEqual(times.map((ms: number) => Math.floor(ms / SECOND) * SECOND));
});

test('an event is delivered once to a receiver that breaks off its response after the headers', async () => {
  const { id } = await createEndpoint(gateway, { url: `${receiver.url}/broken`, events: ['group.created'] });
  receiver.answer((_got, response) => {
    response.writeHead(200, { 'content-length': 100 });
    response.write('accepted', () => response.destroy());
  });
  await makeGroups(gateway, ['broken off']);
  const rows = await attempted(gateway, id, 1);
  expect(rows).toMatchObject([{ status: 'DELIVERED', attempts: [{ status: 200, response: 'accepted', error: null }] }]);
  expect(receiver.at('/broken')).toHaveLength(1);
});
