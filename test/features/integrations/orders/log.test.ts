import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { codeOf, faultsOf, payloadOf } from '../../../support/answers.ts';
import { CONFIRM, type Fixture, startFixture } from '../fixture.ts';
import { wooOrder } from '../fixtures.ts';

let fixture: Fixture;
beforeAll(async () => {
  fixture = await startFixture();
});
afterAll(() => fixture.gateway.stop());

const LOG = `query ($filter: IntegrationDeliveryFilter, $first: Int, $after: String) {
  integrationDeliveries(filter: $filter, first: $first, after: $after) {
    totalCount pageInfo { hasNextPage endCursor } nodes { id orderId outcome payload rawBody integration { name } results { contact { phone } } }
  }
}`;

describe('a replay', () => {
  test('applies the current mappings to what was not done, and repeats nothing unless forced', async () => {
    const tenant = await fixture.tenant();
    const shop = await tenant.shop({ mappings: [{ ...CONFIRM, template: { name: 'paused', language: 'en' } }] });
    await shop.post(wooOrder());
    const [refused] = await shop.settled();
    expect(refused?.outcome).toBe('REFUSED');
    const replay = async (force = false) => {
      const input = { id: refused?.databaseId, force };
      const answer = await tenant.run(
        'replayIntegrationDelivery',
        input,
        'integrationDelivery { outcome replays attempts }',
      );
      return [answer.integrationDelivery, (await shop.settled())[0]?.outcome];
    };
    const mended = { id: shop.mappings[0]?.databaseId, template: CONFIRM.template };
    await tenant.run('updateIntegrationMapping', mended, 'integrationMapping { id }');
    expect(await replay()).toEqual([{ outcome: 'WAITING', replays: 1, attempts: 0 }, 'ACTED']);
    expect(await tenant.sent()).toHaveLength(1);
    expect((await replay())[1]).toBe('ACTED');
    expect(await tenant.sent()).toHaveLength(1);
    expect((await replay(true))[1]).toBe('ACTED');
    expect((await replay(true))[1]).toBe('ACTED');
    expect(await tenant.sent()).toHaveLength(3);
    expect(await tenant.events()).toHaveLength(1);
  });
});

test('all refused payloads since an instant are replayed in order, and nothing is repeated', async () => {
  const tenant = await fixture.tenant();
  const shop = await tenant.shop({ mappings: [{ ...CONFIRM, template: { name: 'nobody', language: 'en' } }] });
  const [{ databaseId: mapping = '' } = {}] = shop.mappings;
  await shop.post(wooOrder({ id: 1 }));
  await shop.settled();
  await new Promise(resolve => setTimeout(resolve, 2));
  const since = new Date().toISOString();
  for (const id of [2, 3]) await shop.post(wooOrder({ id }));
  await shop.post(wooOrder({ id: 4 }), { topic: 'product.updated' });
  await shop.settled();
  const all = (input: object) =>
    fixture.gateway.mutate(
      'replayIntegrationDeliveries',
      { integrationId: shop.id, since, ...input },
      'count hasMore lastReceivedAt',
      tenant.token,
    );
  const outcomes = async () => (await shop.settled()).map(({ outcome }) => outcome);
  expect(await outcomes()).toEqual(['REFUSED', 'REFUSED', 'REFUSED', 'IGNORED']);
  await tenant.run(
    'updateIntegrationMapping',
    { id: mapping, template: CONFIRM.template },
    'integrationMapping { id }',
  );
  const last = (await tenant.data('{ integrationDeliveries { nodes { receivedAt orderId } } }')).integrationDeliveries
    .nodes;
  expect(payloadOf(await all({}))).toMatchObject({
    count: 2,
    hasMore: false,
    lastReceivedAt: last.find((node: { orderId: string }) => node.orderId === '3').receivedAt,
  });
  expect(await outcomes()).toEqual(['REFUSED', 'ACTED', 'ACTED', 'IGNORED']);
  const bodies = (await tenant.sent()).map(({ body }) => body);
  expect(bodies).toHaveLength(2);
  expect(payloadOf(await all({ outcomes: ['ACTED', 'IGNORED'] }))).toMatchObject({ count: 3 });
  expect(await outcomes()).toEqual(['REFUSED', 'ACTED', 'ACTED', 'IGNORED']);
  expect(await tenant.sent()).toHaveLength(2);
  expect(payloadOf(await all({ since: '2999-01-01T00:00:00Z' }))).toMatchObject({
    count: 0,
    hasMore: false,
    lastReceivedAt: null,
  });
  for (const faulty of [[], ['WAITING']])
    expect(Object.keys(faultsOf(await all({ outcomes: faulty })))).toEqual(['outcomes']);
  expect(codeOf(await all({ integrationId: '987654321' }))).toBe('NOT_FOUND');
});

test('an operation reads at most 8 MB of payloads, in whatever lists they are', async () => {
  const tenant = await fixture.tenant();
  const shops = [await tenant.shop(), await tenant.shop()];
  await fixture.gateway.database.query(
    `insert into integration_deliveries (tenant_id, id, integration_id, dedupe_key, topic, body, received_at, processed_at, outcome)
    select tenant_id, gen_random_uuid(), id, sha256(convert_to(id || ':' || n, 'utf8')), '', convert_to('{"a":"' || repeat('x', 1000000) || '"}', 'utf8'),
      now(), now(), 'ignored' from integrations, generate_series(1, 6) n where id = any($1::bigint[])`,
    [shops.map(({ databaseId }) => databaseId)],
  );
  const { data, errors } = await tenant.ask(
    '{ integrations { nodes { deliveries(first: 100) { nodes { rawBody payload } } } } }',
  );
  type Read = { readonly rawBody: string | null; readonly payload: object | null };
  const read: Read[] = data.integrations.nodes.flatMap(
    ({ deliveries }: { deliveries: { nodes: Read[] } }) => deliveries.nodes,
  );
  expect(read.map(({ rawBody, payload }) => [rawBody?.length ?? 0, payload !== null]).sort()).toEqual([
    ...Array(4).fill([0, false]),
    ...Array(8).fill([1_000_008, true]),
  ]);
  expect(errors?.map(({ extensions }) => extensions)).toEqual(
    Array(8).fill({ code: 'QUERY_TOO_COMPLEX', details: { limit: 'payloads', maximum: 8 * 1024 * 1024 } }),
  );
});

test('the log is listed in pages, newest first, filtered by outcome, with payloads on request', async () => {
  const tenant = await fixture.tenant();
  const shop = await tenant.shop();
  for (const id of [1, 2, 3]) await shop.post(wooOrder({ id, billing: id === 2 ? { phone: '' } : {} }));
  await shop.post('{"id":');
  await shop.settled();
  const first = (await tenant.data(LOG, { first: 2 })).integrationDeliveries;
  expect(first.totalCount).toBe(4);
  expect(
    first.nodes.map(
      ({ orderId, payload, rawBody }: { orderId: string; payload: { id: number } | null; rawBody: string }) => [
        orderId,
        payload?.id ?? null,
        rawBody.slice(0, 6),
      ],
    ),
  ).toEqual([
    [null, null, '{"id":'],
    ['3', 3, '{"id":'],
  ]);
  const next = (await tenant.data(LOG, { first: 2, after: first.pageInfo.endCursor })).integrationDeliveries;
  expect(next.nodes.map(({ orderId }: { orderId: string }) => orderId)).toEqual(['2', '1']);
  expect(next.nodes[1]).toMatchObject({
    results: [{ contact: { phone: '+4915123456789' } }],
    integration: { name: expect.any(String) },
  });
  const refused = (await tenant.data(LOG, { filter: { outcome: { eq: 'REFUSED' } } })).integrationDeliveries;
  expect(refused.totalCount).toBe(2);
  const one =
    'query ($id: ID!) { integrationDelivery(id: $id) { payload } node(id: $id) { ... on IntegrationDelivery { payload } } }';
  const { integrationDelivery, node } = await tenant.data(one, { id: next.nodes[0].id });
  expect([integrationDelivery.payload.id, node.payload.id]).toEqual([2, 2]);
});

test('named payloads are replayed once for each idempotency key; a queued or unknown one is refused with its place', async () => {
  const tenant = await fixture.tenant();
  const shop = await tenant.shop({ mappings: [] });
  for (const id of [1, 2]) await shop.post(wooOrder({ id }));
  const [one, two] = (await shop.settled()).map(({ databaseId }) => databaseId);
  await tenant.run('createIntegrationMapping', { integrationId: shop.id, ...CONFIRM }, 'integrationMapping { id }');
  const replay = (input: object) =>
    fixture.gateway.mutate(
      'replayIntegrationDeliveries',
      input,
      'count integrationDeliveries { databaseId }',
      tenant.token,
    );
  const input = { ids: [two, one], idempotencyKey: 'both' };
  for (const _again of [1, 2])
    expect(payloadOf(await replay(input))).toMatchObject({
      count: 2,
      integrationDeliveries: expect.arrayContaining([{ databaseId: one }, { databaseId: two }]),
    });
  expect((await shop.settled()).map(({ outcome }) => outcome)).toEqual(['ACTED', 'ACTED']);
  expect(await tenant.sent()).toHaveLength(2);
  const none = '018f0000-0000-7000-8000-000000000000';
  expect(Object.keys(faultsOf(await replay({ ids: [one, none, 'x'] })))).toEqual(['ids.2']);
  expect(Object.keys(faultsOf(await replay({ ids: [one, none] })))).toEqual(['ids.1']);
  expect(Object.keys(faultsOf(await replay({ ids: [one], since: '2026-01-01' })))).toEqual(['since']);
  const query = `query ($id: ID!) { integration(id: $id) { deliveries(first: 1, filter: { outcome: { eq: ACTED } }) {
    totalCount nodes { databaseId integration { databaseId } results { mapping { name } } } } } }`;
  expect((await tenant.data(query, { id: shop.id })).integration.deliveries).toEqual({
    totalCount: 2,
    nodes: [
      { databaseId: two, integration: { databaseId: shop.databaseId }, results: [{ mapping: { name: CONFIRM.name } }] },
    ],
  });
});
