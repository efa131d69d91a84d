import { sql } from 'kysely';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { EVENT_TYPES } from '../../../../src/core/events.ts';
import { requeueSince } from '../../../../src/features/webhooks/log/store.ts';
import { codeOf, dataOf, faultsOf, payloadOf } from '../../../support/answers.ts';
import { eventually, type TestGateway } from '../../../support/gateway.ts';
import { goneAfter, type Receiver, startReceiver } from '../receiver.ts';
import { attempted, createEndpoint, deliveries, type Endpoint, makeGroups, startHooks } from '../setup.ts';

/** The log of deliveries as GraphQL shows it: across endpoints, with what was sent, and what of it can be sent again. */

let gateway: TestGateway;
let receiver: Receiver;
let ok: Endpoint;
let failing: Endpoint;

beforeAll(async () => {
  [gateway, receiver] = await Promise.all([startHooks(), startReceiver()]);
  const queued = Promise.withResolvers<void>();
  receiver.answer(goneAfter(queued.promise, got => got.path === '/failing'));
  ok = await createEndpoint(gateway, { url: `${receiver.url}/ok`, events: ['group.*'], format: 'N8N' });
  failing = await createEndpoint(gateway, { url: `${receiver.url}/failing`, events: ['group.*'] });
  await makeGroups(gateway, ['one', 'two']);
  await attempted(gateway, ok.id, 2);
  // A response of 410 disables the endpoint: what happens afterwards is not queued for it.
  await eventually(async () => expect(await deliveries(gateway, failing.id)).toHaveLength(2));
  queued.resolve();
  await attempted(gateway, failing.id, 1);
  await eventually(async () =>
    expect((await deliveries(gateway, failing.id)).map(row => row.status)).toEqual(['FAILED', 'FAILED']),
  );
});
afterAll(async () => {
  await gateway.stop();
  await receiver.stop();
});
beforeEach(() => receiver.answer(200));

const list = async (filter: object, selection = 'endpoint { databaseId } status') =>
  dataOf(
    await gateway.graphql(
      `query ($filter: WebhookDeliveryFilter) { webhookDeliveries(filter: $filter, orderBy: [{ field: ID }]) { totalCount nodes { ${selection} } } }`,
      { filter },
    ),
  ).webhookDeliveries;

test('lists the deliveries to all endpoints, filtered by endpoint, event, status, response and time', async () => {
  const [a, b] = [String(ok.id), String(failing.id)];
  const rows = (await list({})).nodes.map((row: { endpoint: { databaseId: string } }) => row.endpoint.databaseId);
  expect(rows.toSorted()).toEqual([a, a, b, b].toSorted());
  const counts = async (...filters: object[]) =>
    Promise.all(filters.map(async filter => (await list(filter)).totalCount));
  const [past, future] = [
    new Date(Date.now() - 3_600_000).toISOString(),
    new Date(Date.now() + 3_600_000).toISOString(),
  ];
  expect(
    await counts(
      { endpointId: { eq: a } },
      { status: { eq: 'FAILED' } },
      { status: { in: ['FAILED', 'DELIVERED'] }, endpointId: { in: [a, b] } },
      { eventType: { eq: 'group.created' } },
      { eventType: { eq: 'group.deleted' } },
      { responseStatus: { eq: 410 } },
      { responseStatus: { gte: 400 } },
      { responseStatus: { isNull: true } },
      { isTest: { eq: true } },
      { createdAt: { gte: past } },
      { createdAt: { between: [past, future] } },
      { createdAt: { lt: past } },
      { createdAt: { gt: future } },
      { or: [{ responseStatus: { eq: 200 } }, { isTest: { eq: true } }] },
    ),
  ).toEqual([2, 2, 4, 4, 0, 1, 1, 1, 0, 4, 4, 0, 0, 2]);
  const [first] = (await list({}, 'id databaseId createdAt')).nodes;
  for (const id of [first.id, first.databaseId])
    expect((await list({ id: { eq: id } }, 'id')).nodes).toEqual([{ id: first.id }]);
  expect((await list({ createdAt: { eq: first.createdAt } })).totalCount).toBeGreaterThan(0);
});

test('a delivery shows the body and the event that it delivers, as the endpoint got them', async () => {
  const { nodes } = await list(
    { endpointId: { eq: String(ok.id) } },
    'eventId requestBody responseStatus attempts { occurredAt status } event { databaseId type occurredAt payload }',
  );
  expect(nodes).toHaveLength(2);
  for (const [index, row] of nodes.entries()) {
    expect(row.requestBody).toBe(receiver.at('/ok')[index]?.text);
    expect(row).toMatchObject({
      responseStatus: 200,
      event: {
        databaseId: row.eventId,
        type: 'GROUP_CREATED',
        payload: { group: { name: ['one', 'two'][index] } },
      },
    });
  }
});

test('the body is null once the event is no longer in the log', async () => {
  await makeGroups(gateway, ['forgotten']);
  await attempted(gateway, ok.id, 3);
  await gateway.database.query("delete from events where payload->'group'->>'name' = 'forgotten'");
  const { nodes } = await list({ endpointId: { eq: String(ok.id) } }, 'requestBody event { id }');
  expect(nodes.at(-1)).toEqual({ requestBody: null, event: null });
});

test('an endpoint lists its own deliveries, with a filter of its own', async () => {
  const query = `query ($id: ID!) { webhookEndpoint(id: $id) { deliveries(first: 1, filter: { status: { eq: FAILED } }) {
    totalCount pageInfo { hasNextPage } nodes { responseStatus endpoint { databaseId } } } } }`;
  const { webhookEndpoint } = dataOf(await gateway.graphql(query, { id: String(failing.id) }));
  expect(webhookEndpoint.deliveries).toEqual({
    totalCount: 2,
    pageInfo: { hasNextPage: true },
    nodes: [{ responseStatus: null, endpoint: { databaseId: String(failing.id) } }],
  });
});

test('objects that do not exist are null', async () => {
  const none = '018f0000-0000-7000-8000-000000000000';
  expect(
    dataOf(await gateway.graphql(`{ a: webhookEndpoint(id: "999") { id } b: webhookDelivery(id: "${none}") { id } }`)),
  ).toEqual({ a: null, b: null });
});

describe('replayWebhookDeliveries', () => {
  const replay = (input: object) =>
    gateway.mutate('replayWebhookDeliveries', input, 'count hasMore webhookDeliveries { databaseId status }');

  test('repeats the named deliveries, once for each idempotency key', async () => {
    await gateway.mutate('updateWebhookEndpoint', { id: String(failing.id), isEnabled: true });
    const { nodes } = await list({ endpointId: { eq: String(failing.id) } }, 'id databaseId');
    const [one, two] = nodes;
    const input = { ids: [one.id, two.databaseId], idempotencyKey: 'both' };
    const pending = nodes.map(({ databaseId }: { databaseId: string }) => ({ databaseId, status: 'PENDING' }));
    expect(payloadOf(await replay(input))).toMatchObject({ count: 2, hasMore: false, webhookDeliveries: pending });
    await expect
      .poll(async () => (await deliveries(gateway, failing.id)).map(row => row.status))
      .toEqual(['DELIVERED', 'DELIVERED']);
    const before = receiver.at('/failing').length;
    expect(payloadOf(await replay(input))).toMatchObject({ count: 2, webhookDeliveries: [{}, {}] });
    expect(codeOf(await replay({ ...input, ids: [one.id] }))).toBe('IDEMPOTENCY_MISMATCH');
    expect((await deliveries(gateway, failing.id)).map(row => row.status)).toEqual(['DELIVERED', 'DELIVERED']);
    expect(receiver.at('/failing')).toHaveLength(before);
  });

  test('tells every fault of its input, and queues nothing then', async () => {
    const none = '018f0000-0000-7000-8000-000000000000';
    const { nodes } = await list({ endpointId: { eq: String(ok.id) } }, 'id');
    expect(Object.keys(faultsOf(await replay({ ids: [nodes[0].id, none] })))).toEqual(['ids.1']);
    expect(Object.keys(faultsOf(await replay({ ids: ['x', nodes[0].id] })))).toEqual(['ids.0']);
    expect(Object.keys(faultsOf(await replay({})))).toEqual(['endpointId', 'since']);
    expect(Object.keys(faultsOf(await replay({ ids: [], since: '2026-01-01' })))).toEqual(['since', 'ids']);
    expect((await list({ status: { eq: 'PENDING' } })).totalCount).toBe(0);
  });
});

test('what is replayed since an instant is due at one time, in whatever order its rows are found', async () => {
  const { resources } = gateway.gateway;
  const { id: tenantId } = gateway.tenant;
  const rolledBack = new Error('The rows are as before.');
  const replayed = resources.db.transaction(async trx => {
    // So many that the clock advances while they are queued.
    await sql`
      /* cross-tenant: copies of a delivery of this tenant */
      insert into webhook_deliveries
      select (jsonb_populate_record(null::webhook_deliveries, to_jsonb(d) || jsonb_build_object('id', uuid_v7(statement_timestamp(), n)))).*
      from (select * from webhook_deliveries where tenant_id = ${tenantId} and endpoint_id = ${ok.id} limit 1) d,
        generate_series(1, 2000) n`.execute(trx);
    const since = new Date(Date.now() - 3_600_000).toISOString();
    expect(await requeueSince(trx, tenantId, ok.id, since, false, EVENT_TYPES, 2_000)).toBe(2_000);
    const { rows } = await sql<{ due: string }>`
      select distinct next_attempt_at as due from webhook_deliveries
      where tenant_id = ${tenantId} and endpoint_id = ${ok.id} and status = 'pending'`.execute(trx);
    expect(rows).toHaveLength(1);
    throw rolledBack;
  });
  await expect(replayed).rejects.toBe(rolledBack);
});

test('user errors name the field and have its code', async () => {
  const create = async (input: object) => {
    const { createWebhookEndpoint } = dataOf0(
      await gateway.mutate('createWebhookEndpoint', input, 'webhookEndpoint { id }'),
    );
    return createWebhookEndpoint.userErrors.map(({ code, path }: { code: string; path: string[] }) => [
      code,
      path.join('.'),
    ]);
  };
  const dataOf0 = (answer: { data?: { createWebhookEndpoint: { userErrors: { code: string; path: string[] }[] } } }) =>
    answer.data as NonNullable<typeof answer.data>;
  expect(await create({ url: '', events: ['message.flown'], description: 'x'.repeat(501) })).toEqual([
    ['REQUIRED', 'url'],
    ['INVALID', 'events'],
    ['TOO_LONG', 'description'],
  ]);
  expect(await create({ url: `${receiver.url}/${'x'.repeat(2_000)}`, events: [] })).toEqual([
    ['TOO_LONG', 'url'],
    ['REQUIRED', 'events'],
  ]);
});
