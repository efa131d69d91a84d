import { Webhook } from 'standardwebhooks';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { encodeGlobalId } from '../../../../src/core/global-ids.ts';
import { DAY, HOUR, MINUTE, SECOND } from '../../../../src/platform/clock.ts';
import { restOf } from '../../../rest/client.ts';
import { codeOf, dataOf, faultsOf, payloadOf } from '../../../support/answers.ts';
import { eventually, type TestGateway } from '../../../support/gateway.ts';
import { follow } from '../../events/subscriber.ts';
import { goneAfter, type Receiver, startReceiver } from '../receiver.ts';
import { attempted, createEndpoint, deliveries, makeGroups, pass, startHooks, wake } from '../setup.ts';

let gateway: TestGateway;
let receiver: Receiver;
/** What hangs is waited for that long: the others must not be mistaken for it on a busy machine. */
const TIMEOUT_MS = 10_000;
beforeAll(async () => {
  [gateway, receiver] = await Promise.all([
    startHooks({ env: { PARLEY_WEBHOOK_TIMEOUT_MS: String(TIMEOUT_MS) } }),
    startReceiver(),
  ]);
});
afterAll(async () => {
  await gateway.stop();
  await receiver.stop();
});
beforeEach(async () => {
  receiver.answer(200);
  // What other tests left would be tried while this one counts.
  await gateway.database.query('delete from webhook_endpoints');
});

const endpointOf = async (id: number) =>
  dataOf(
    await gateway.graphql(
      'query ($id: ID!) { webhookEndpoint(id: $id) { isEnabled disabledReason disabledAt failingSince previousSecretUntil } }',
      { id: String(id) },
    ),
  ).webhookEndpoint;

const update = (id: number, input: object) =>
  gateway.mutate('updateWebhookEndpoint', { id: String(id), ...input }, 'webhookEndpoint { isEnabled }');

const eventsOf = (type: string) =>
  gateway.database.query<{ payload: { webhook: { id: number }; reason: string } }>(
    'select payload from events where type = $1 order by seq',
    [type],
  );

test('410 disables the endpoint at once, with an event for other endpoints, and queued deliveries are not sent', async () => {
  const gone = await createEndpoint(gateway, { url: `${receiver.url}/gone`, events: ['group.*'] });
  await createEndpoint(gateway, { url: `${receiver.url}/watch`, events: ['webhook.*'] });
  const queued = Promise.withResolvers<void>();
  receiver.answer(goneAfter(queued.promise, got => got.path === '/gone'));
  await makeGroups(gateway, ['gone 1', 'gone 2', 'gone 3']);
  await eventually(async () => expect(await deliveries(gateway, gone.id)).toHaveLength(3));
  queued.resolve();
  const rows = await eventually(async () => {
    const found = await deliveries(gateway, gone.id);
    expect(found.map(row => row.status)).toEqual(['FAILED', 'FAILED', 'FAILED']);
    return found;
  });
  expect(rows.map(row => [row.attemptCount, row.error])).toEqual([
    [1, null],
    [0, 'the endpoint is disabled'],
    [0, 'the endpoint is disabled'],
  ]);
  expect(await endpointOf(gone.id)).toMatchObject({ isEnabled: false, disabledReason: 'GONE' });
  await eventually(() => expect(receiver.at('/watch')).toHaveLength(1));
  expect(receiver.at('/watch')[0]?.body).toMatchObject({
    type: 'webhook.disabled',
    data: { webhook: { id: gone.id, enabled: false }, reason: 'gone' },
  });
  await makeGroups(gateway, ['gone 4']);
  expect(payloadOf(await update(gone.id, { isEnabled: true })).webhookEndpoint.isEnabled).toBe(true);
  expect(await endpointOf(gone.id)).toMatchObject({ disabledReason: null, failingSince: null });
});

test('an endpoint that fails for five days is disabled, one with a success in between is not', async () => {
  const { id } = await createEndpoint(gateway, { url: `${receiver.url}/failing`, events: ['group.*'] });
  receiver.answer(500);
  await makeGroups(gateway, ['failing 1']);
  await attempted(gateway, id, 1);
  await eventually(async () => expect((await endpointOf(id)).failingSince).not.toBeNull());
  await pass(gateway, id, 4 * DAY);
  receiver.answer(200);
  wake(gateway, id);
  await eventually(async () => expect((await endpointOf(id)).failingSince).toBeNull());
  receiver.answer(500);
  await pass(gateway, id, 4 * DAY);
  await makeGroups(gateway, ['failing 2']);
  await attempted(gateway, id, 3);
  expect(await endpointOf(id)).toMatchObject({ isEnabled: true });
  await pass(gateway, id, 5 * DAY - HOUR);
  wake(gateway, id);
  await attempted(gateway, id, 4);
  expect(await endpointOf(id)).toMatchObject({ isEnabled: true });
  await pass(gateway, id, 2 * HOUR);
  await makeGroups(gateway, ['failing 3']);
  await eventually(async () =>
    expect(await endpointOf(id)).toMatchObject({ isEnabled: false, disabledReason: 'FAILING' }),
  );
  const told = await eventsOf('webhook.disabled');
  expect(told.filter(({ payload }) => payload.webhook.id === id).map(({ payload }) => payload.reason)).toEqual([
    'failing',
  ]);
});

test('a redirect is a failure and not followed; Retry-After is respected', async () => {
  const { id } = await createEndpoint(gateway, { url: `${receiver.url}/moved`, events: ['group.*'] });
  receiver.answer((_got, response) => void response.writeHead(302, { location: `${receiver.url}/elsewhere` }).end());
  await makeGroups(gateway, ['moved']);
  const [row] = await attempted(gateway, id, 1);
  expect(row.attempts[0]).toMatchObject({ status: 302, error: expect.stringContaining('redirect') });
  expect(receiver.at('/elsewhere')).toEqual([]);
  receiver.answer((_got, response) => void response.writeHead(429, { 'retry-after': '3600' }).end());
  await pass(gateway, id, 6 * SECOND);
  wake(gateway, id);
  const [again] = await attempted(gateway, id, 2);
  const waitMs = Date.parse(again.nextAttemptAt) - Date.parse(again.attempts[1].occurredAt);
  expect(waitMs).toBeGreaterThanOrEqual(HOUR);
  expect(waitMs).toBeLessThan(1.11 * HOUR);
});

test('an endpoint that hangs times out, is retried, and does not delay others', async () => {
  const hanging = await createEndpoint(gateway, { url: `${receiver.url}/hang`, events: ['group.*'] });
  const quick = await createEndpoint(gateway, { url: `${receiver.url}/quick`, events: ['group.*'] });
  receiver.answer((got, response) => {
    if (got.path === '/quick') response.end();
  });
  await makeGroups(
    gateway,
    Array.from({ length: 20 }, (_, index) => `hang ${index}`),
  );
  await eventually(() => expect(receiver.at('/quick')).toHaveLength(20));
  // Delivered one after the other, as many would have been waited for.
  expect(receiver.at('/hang').length).toBeLessThan(10);
  const [row] = await attempted(gateway, hanging.id, 1);
  expect(row).toMatchObject({
    status: 'PENDING',
    attempts: [{ status: null, error: `no complete response within ${TIMEOUT_MS} ms` }],
  });
  expect(row.attempts[0].durationMs).toBeGreaterThanOrEqual(TIMEOUT_MS - 1);
  await update(hanging.id, { isEnabled: false });
  expect((await attempted(gateway, quick.id, 20)).every(one => one.status === 'DELIVERED')).toBe(true);
});

test('after a rotation both secrets sign during the overlap, then only the new one', async () => {
  const { id, secret: first } = await createEndpoint(gateway, { url: `${receiver.url}/rotated`, events: ['group.*'] });
  const rotate = (overlapHours: number, idempotencyKey?: string) =>
    gateway.mutate('rotateWebhookSecret', { id: String(id), overlapHours, idempotencyKey }, 'secret');
  const { secret: second } = payloadOf(await rotate(2, 'rotate once'));
  expect(payloadOf(await rotate(2, 'rotate once'))).toMatchObject({ secret: null });
  expect(second).not.toBe(first);
  const signatures = async (count: number): Promise<string[]> => {
    await makeGroups(gateway, [`rotated ${count}`]);
    const got = await eventually(() => {
      expect(receiver.at('/rotated')).toHaveLength(count);
      return receiver.at('/rotated').at(-1);
    });
    const {
      'webhook-id': webhookId = '',
      'webhook-timestamp': timestamp = '',
      ...rest
    } = (got?.headers ?? {}) as Record<string, string>;
    const given = (rest['webhook-signature'] ?? '').split(' ');
    const at = new Date(Number(timestamp) * SECOND);
    return [second, first].map(secret => {
      const signed = new Webhook(secret).sign(webhookId, at, got?.text ?? '');
      return given.includes(signed) ? 'signed' : 'not signed';
    });
  };
  expect(await signatures(1)).toEqual(['signed', 'signed']);
  await pass(gateway, id, 2 * HOUR + MINUTE);
  expect(await signatures(2)).toEqual(['signed', 'not signed']);
  for (const hours of [-1, 169]) expect(Object.keys(faultsOf(await rotate(hours)))).toEqual(['overlapHours']);
});

test('queued deliveries to a disabled or deleted endpoint are not sent', async () => {
  for (const how of ['disabled', 'deleted'] as const) {
    const path = `/${how}`;
    const { id } = await createEndpoint(gateway, { url: receiver.url + path, events: ['group.*'] });
    let release = (): void => {};
    receiver.answer((_got, response) => {
      release = () => void response.end();
    });
    await makeGroups(
      gateway,
      Array.from({ length: 5 }, (_, index) => `${how} ${index}`),
    );
    await eventually(() => expect(receiver.at(path)).toHaveLength(1));
    // An event that is queued later is not for a disabled endpoint, and has no delivery.
    await eventually(async () => {
      const queued = 'select count(*)::int as count from webhook_deliveries where endpoint_id = $1';
      expect(await gateway.database.query(queued, [id])).toEqual([{ count: 5 }]);
    });
    if (how === 'disabled') await update(id, { isEnabled: false });
    else
      expect(payloadOf(await gateway.mutate('deleteWebhookEndpoint', { id: String(id) }, 'deletedId'))).toMatchObject({
        deletedId: encodeGlobalId('WebhookEndpoint', gateway.tenant.id, id),
      });
    release();
    const rows = await eventually(async () => {
      const found = await gateway.database.query<{ status: string; error: string | null }>(
        'select status, error from webhook_deliveries where endpoint_id = $1 order by id',
        [id],
      );
      expect(found.some(row => row.status === 'pending')).toBe(false);
      return found;
    });
    const reason = how === 'disabled' ? 'the endpoint is disabled' : 'the endpoint was deleted';
    expect(rows.slice(1)).toEqual(Array.from({ length: 4 }, () => ({ status: 'failed', error: reason })));
    expect(receiver.at(path)).toHaveLength(1);
  }
});

test('a pending retry ends when its endpoint is disabled, and enabling does not restore it', async () => {
  const { id } = await createEndpoint(gateway, { url: `${receiver.url}/later`, events: ['group.*'] });
  // Without a word the next attempt comes after 5 seconds, which a busy machine needs to disable the endpoint.
  receiver.answer((_got, response) => void response.writeHead(500, { 'retry-after': '7200' }).end());
  await makeGroups(gateway, ['later']);
  await attempted(gateway, id, 1);
  await update(id, { isEnabled: false });
  await eventually(async () =>
    expect(await deliveries(gateway, id)).toMatchObject([
      { status: 'FAILED', error: 'the endpoint is disabled', nextAttemptAt: null, attemptCount: 1 },
    ]),
  );
  await update(id, { isEnabled: true });
  await pass(gateway, id, 3 * HOUR);
  wake(gateway, id);
  await makeGroups(gateway, ['after later']);
  await eventually(() => expect(receiver.at('/later')).toHaveLength(2));
});

test.each([
  [
    'disabled',
    `update webhook_endpoints set enabled = false, disabled_reason = 'by_hand' where id = $1`,
    'the endpoint is disabled',
  ],
  ['deleted', 'delete from webhook_endpoints where id = $1', 'the endpoint was deleted'],
])('what waits ends also when nobody was told that its endpoint was %s', async (how, change, error) => {
  const { id } = await createEndpoint(gateway, { url: `${receiver.url}/untold`, events: ['group.*'] });
  receiver.answer((_got, response) => void response.writeHead(500, { 'retry-after': '7200' }).end());
  await makeGroups(gateway, [`untold ${how}`]);
  await attempted(gateway, id, 1);
  // While the shard is worked on, it is looked at anyway.
  await eventually(async () => {
    const held = `select from lanes where queue = 'webhooks' and key = ($1 % 4)::text and holder is not null`;
    expect(await gateway.database.query(held, [id])).toEqual([]);
  });
  await gateway.database.query(change, [id]);
  await eventually(async () => {
    const rows = await gateway.database.query('select status, error from webhook_deliveries where endpoint_id = $1', [
      id,
    ]);
    expect(rows).toEqual([{ status: 'failed', error }]);
  });
});

test('an endpoint that is changed repeatedly during delivery gets every event once and in order', async () => {
  const { id } = await createEndpoint(gateway, { url: `${receiver.url}/changing`, events: ['group.*'] });
  receiver.answer((_got, response) => void setTimeout(() => response.end(), 1));
  const names = Array.from({ length: 150 }, (_, index) => `changing ${String(index).padStart(3, '0')}`);
  let done = false;
  const changing = Promise.all(
    Array.from({ length: 3 }, async () => {
      while (!done) await update(id, { description: String(Math.random()) });
    }),
  );
  await makeGroups(gateway, names);
  await eventually(() => expect(receiver.at('/changing').length).toBeGreaterThanOrEqual(names.length)).finally(() => {
    done = true;
  });
  await changing;
  await attempted(gateway, id, 100);
  expect(receiver.at('/changing').map(({ body }) => body.data.group.name)).toEqual(names);
});

test('deliveries since an instant can be replayed in order, failed ones or all', async () => {
  const { id } = await createEndpoint(gateway, { url: `${receiver.url}/again`, events: ['group.*'] });
  const names = ['again 1', 'again 2', 'again 3', 'again 4'];
  const queued = Promise.withResolvers<void>();
  receiver.answer(goneAfter(queued.promise, got => got.body.data.group.name === 'again 2'));
  await makeGroups(gateway, names);
  await eventually(async () => expect(await deliveries(gateway, id)).toHaveLength(names.length));
  queued.resolve();
  await eventually(async () =>
    expect((await deliveries(gateway, id)).map(row => row.status)).toEqual(['DELIVERED', 'FAILED', 'FAILED', 'FAILED']),
  );
  receiver.answer(200);
  const replay = async (onlyFailed: boolean) => {
    const input = { endpointId: String(id), since: new Date(Date.now() - HOUR).toISOString(), onlyFailed };
    return gateway.mutate('replayWebhookDeliveries', input, 'count hasMore');
  };
  expect(codeOf(await replay(true))).toBe('DISABLED');
  await update(id, { isEnabled: true });
  const before = receiver.at('/again').length;
  expect(payloadOf(await replay(true))).toMatchObject({ count: 3, hasMore: false });
  await eventually(() => expect(receiver.at('/again')).toHaveLength(before + 3));
  expect(
    receiver
      .at('/again')
      .slice(before)
      .map(({ body }) => body.data.group.name),
  ).toEqual(names.slice(1));
  await eventually(async () =>
    expect((await deliveries(gateway, id)).every(row => row.status === 'DELIVERED')).toBe(true),
  );
  expect(payloadOf(await replay(false)).count).toBe(4);
  await eventually(() => expect(receiver.at('/again')).toHaveLength(before + 7));
  const ids = receiver.at('/again').map(({ headers, body }) => `${body.data.group.name} ${headers['webhook-id']}`);
  expect(new Set(ids).size).toBe(4);
});

test('an endpoint for all events does not get its own delivery attempts, nor events of other tenants', async () => {
  const { id } = await createEndpoint(gateway, { url: `${receiver.url}/everything`, events: ['*'] });
  const other = await gateway.addTenant({ channel: false });
  await createEndpoint(gateway, { url: `${receiver.url}/theirs`, events: ['*'] }, other);
  await makeGroups(gateway, ['everything']);
  await attempted(gateway, id, 1);
  const rest = restOf(gateway, gateway.tenant);
  expect((await rest('POST', `/webhooks/${id}/test`)).status).toBe(200);
  // The attempts are in the log by now; when a later event has come, they would have come before it.
  await makeGroups(gateway, ['everything else']);
  await eventually(() => expect(receiver.at('/everything')).toHaveLength(3));
  expect(receiver.at('/everything').map(({ body }) => body.type)).toEqual([
    'group.created',
    'webhook.test',
    'group.created',
  ]);
  expect(receiver.at('/theirs')).toEqual([]);
  const [logged] = await gateway.database.query<{ payload: object }>(
    "select payload from events where type = 'webhook.delivery_attempted' and payload->'delivery'->>'endpoint_id' = $1 order by seq",
    [String(id)],
  );
  expect(logged?.payload).toEqual({
    delivery: expect.objectContaining({
      endpoint_id: id,
      status: 'delivered',
      attempts: 1,
      event_type: 'group.created',
    }),
    attempt: expect.objectContaining({ number: 1, status: 200, error: null }),
  });
});

test('a subscription reports every attempt with its delivery', async () => {
  const follower = await follow(gateway.url, gateway.tenant.token, {
    types: ['webhook.*'],
    query: `subscription ($filter: EventFilter, $after: String) { events(filter: $filter, after: $after) { id cursor type data: payload
      ... on WebhookEvent { webhook { url } delivery { databaseId status eventType } attempt { number status error } } } }`,
  });
  const { id } = await createEndpoint(gateway, { url: `${receiver.url}/followed`, events: ['group.*'] });
  receiver.answer(410);
  await makeGroups(gateway, ['followed']);
  // Attempts of the tests before may be noted as late as now.
  const events = () =>
    follower.events.filter(({ data }) => {
      const { delivery, webhook } = data as { delivery?: { endpoint_id: number }; webhook?: { id: number } };
      return delivery?.endpoint_id === id || webhook?.id === id;
    });
  await eventually(() => expect(events()).toHaveLength(2));
  await follower.stop();
  expect(follower.errors).toEqual([]);
  const [row] = await deliveries(gateway, id);
  expect(events()).toMatchObject([
    {
      type: 'webhook.delivery_attempted',
      webhook: null,
      delivery: { databaseId: row.databaseId, status: 'FAILED', eventType: 'group.created' },
      attempt: { number: 1, status: 410, error: 'gone (HTTP 410)' },
    },
    { type: 'webhook.disabled', webhook: { url: `${receiver.url}/followed` }, delivery: null, attempt: null },
  ]);
});

test('a delivery fails if its event is no longer in the log', async () => {
  const { id } = await createEndpoint(gateway, { url: `${receiver.url}/lost`, events: ['group.*'] });
  receiver.answer(500);
  await makeGroups(gateway, ['lost']);
  await attempted(gateway, id, 1);
  await gateway.database.query(
    "delete from events where type = 'group.created' and payload->'group'->>'name' = 'lost'",
  );
  await pass(gateway, id, 6 * SECOND);
  wake(gateway, id);
  await eventually(async () =>
    expect(await deliveries(gateway, id)).toMatchObject([
      { status: 'FAILED', error: 'the event is no longer in the log', attemptCount: 1 },
    ]),
  );
});
