import { createHmac } from 'node:crypto';
import { Webhook } from 'standardwebhooks';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { encodeGlobalId } from '../../../src/global-ids.ts';
import { HOUR } from '../../../src/platform/clock.ts';
import { codeOf, dataOf, faultsOf } from '../../support/answers.ts';
import { eventually } from '../../support/gateway.ts';
import { SHOPIFY_ID, shopifyOrder, wooOrder } from './fixtures.ts';
import { CONFIRM, CREATE, type Ground, postWoo, startGround } from './ground.ts';

let ground: Ground;
beforeAll(async () => {
  ground = await startGround();
});
afterAll(() => ground.gateway.stop());

const ROTATE = `mutation ($id: ID!, $input: RotateIntegrationSecretInput!) { rotateIntegrationSecret(id: $id, input: $input) {
  secret integration { hasSecret previousSecretUntil } } }`;
const PAID = {
  name: 'Paid',
  statuses: ['paid'],
  template: {
    name: 'order_confirmed',
    language: 'en',
    header: { text: { path: 'name' } },
    body: [{ path: 'customer.first_name' }, { path: 'line_items[0].title' }, { path: 'total_price' }],
    buttons: [{ index: 0, value: { path: 'order_number' } }],
  },
};

describe('Shopify', () => {
  const post = (url: string, secret: string, body: string, headers: Record<string, string> = {}) =>
    fetch(url, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        'x-shopify-topic': 'orders/create',
        'x-shopify-shop-domain': 'example.myshopify.com',
        'x-shopify-api-version': '2026-10',
        'x-shopify-webhook-id': 'b54557e4-bdd9-4b37-8a5f-bf7d70bcd043',
        'x-shopify-event-id': '98880550-7158-44d4-b7cd-2c97c8a091b5',
        'x-shopify-triggered-at': '2026-11-20T09:12:47.000000000Z',
        'x-shopify-hmac-sha256': createHmac('sha256', secret).update(body).digest('base64'),
        ...headers,
      },
      body,
    });

  test('lets nothing in until its secret is given; then an order sends its template, however often it is told', async () => {
    const tenant = await ground.tenant();
    const shop = await tenant.shop({ kind: 'SHOPIFY', mappings: [PAID] });
    expect(shop).toMatchObject({ secret: null, hasSecret: false });
    expect((await post(shop.url, '', shopifyOrder())).status).toBe(401);
    const secret = 'a'.repeat(64);
    expect(faultsOf(await tenant.ask(ROTATE, { id: shop.id, input: {} }))).toHaveProperty('secret');
    expect((await tenant.data(ROTATE, { id: shop.id, input: { secret } })).rotateIntegrationSecret).toEqual({
      secret: null,
      integration: { hasSecret: true, previousSecretUntil: null },
    });
    const told = async (headers = {}, body = shopifyOrder()) => (await post(shop.url, secret, body, headers)).json();
    expect(await told()).toEqual({ status: 'stored' });
    expect(await told()).toEqual({ status: 'duplicate' });
    expect(await told({ 'x-shopify-topic': 'orders/updated', 'x-shopify-webhook-id': 'other' })).toEqual({
      status: 'stored',
    });
    expect(await told({ 'x-shopify-topic': 'orders/delete', 'x-shopify-webhook-id': 'third' })).toEqual({
      status: 'stored',
    });
    const deliveries = await shop.settled();
    expect(deliveries.map(({ outcome, topic }) => [topic, outcome])).toEqual([
      ['orders/create', 'ACTED'],
      ['orders/updated', 'DUPLICATE'],
      ['orders/delete', 'IGNORED'],
    ]);
    expect(deliveries[0]?.orderId).toBe(SHOPIFY_ID);
    expect(await tenant.sent()).toEqual([
      { to: '+14155552671', body: 'Hello John, we have your order IPod Nano - 8GB of 404.95.' },
    ]);
  });
});

describe('a generic sender', () => {
  const body = (of: object = {}) =>
    JSON.stringify({
      meta: { type: 'order.paid' },
      order_id: 'A-1',
      status: 'paid',
      phone: '+49 151 7770100',
      first_name: 'Ali',
      ...of,
    });
  const input = {
    kind: 'GENERIC',
    topicPath: 'meta.type',
    mappings: [{ name: 'Paid', topics: ['order.paid'], template: { name: 'plain', language: 'en' } }],
  };

  test('shows its secret in a header, or signs as Standard Webhooks says', async () => {
    const tenant = await ground.tenant();
    const shop = await tenant.shop(input);
    const post = async (text: string, headers: Record<string, string>) =>
      (
        await fetch(shop.url, {
          method: 'POST',
          headers: { 'content-type': 'application/json', ...headers },
          body: text,
        })
      ).status;
    const signed = (text: string, at: Date, id = 'msg_1') => ({
      'webhook-id': id,
      'webhook-timestamp': String(Math.floor(at.getTime() / 1_000)),
      'webhook-signature': new Webhook(shop.secret).sign(id, at, Buffer.from(text)),
    });
    const now = new Date(ground.gateway.gateway.resources.clock.now());
    expect(shop.secret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/);
    expect(await post(body(), {})).toBe(401);
    expect(await post(body(), { 'x-parley-secret': 'wrong' })).toBe(401);
    expect(await post(body(), signed(body(), new Date(now.getTime() - HOUR)))).toBe(401);
    expect(await post(body(), signed(body({ phone: '+4915100000000' }), now))).toBe(401);
    expect(await post(body(), signed(body(), now))).toBe(200);
    expect(await post(body({ order_id: 'A-2' }), { 'x-parley-secret': shop.secret })).toBe(200);
    expect(await post(body({ order_id: 'A-3', meta: { type: 'cart.left' } }), { 'x-parley-secret': shop.secret })).toBe(
      200,
    );
    expect((await shop.settled()).map(({ topic, orderId, outcome }) => [topic, orderId, outcome])).toEqual([
      ['order.paid', 'A-1', 'ACTED'],
      ['order.paid', 'A-2', 'ACTED'],
      ['cart.left', 'A-3', 'IGNORED'],
    ]);
    // What nobody takes for an order is told as none.
    expect((await tenant.events()).map(({ payload }) => (payload['order'] as { id: string }).id)).toEqual([
      'A-1',
      'A-2',
    ]);
  });
});

test('a secret that is changed leaves the one before good for as long as was asked, and is shown once', async () => {
  const tenant = await ground.tenant();
  const shop = await tenant.shop();
  const status = async (secret: string, id: number) => (await postWoo(shop.url, secret, wooOrder({ id }))).status;
  const key = { idempotencyKey: 'rotate', overlapHours: 2 };
  const { secret } = (await tenant.data(ROTATE, { id: shop.id, input: key })).rotateIntegrationSecret;
  expect((await tenant.data(ROTATE, { id: shop.id, input: key })).rotateIntegrationSecret.secret).toBeNull();
  expect([await status(shop.secret, 1), await status(secret, 2)]).toEqual([200, 200]);
  ground.pass(2 * HOUR + 1_000);
  expect([await status(shop.secret, 3), await status(secret, 4)]).toEqual([401, 200]);
  const last = (await tenant.data(ROTATE, { id: shop.id, input: { overlapHours: 0 } })).rotateIntegrationSecret.secret;
  expect([await status(secret, 5), await status(last, 6)]).toEqual([401, 200]);
  const [row] = await ground.gateway.database.query('select * from integrations where id = $1', [shop.databaseId]);
  expect(JSON.stringify({ row, logs: ground.gateway.logs })).not.toContain(last);
});

const DRY = `query ($id: ID!, $deliveryId: ID, $payload: JSON, $topic: String) {
  dryRunIntegration(integrationId: $id, deliveryId: $deliveryId, payload: $payload, topic: $topic) {
    topic order { orderId number status total currency }
    mappings { outcome mismatch reasons { code field path } person { phone firstName country } phone contact { firstName } groups { name }
      parameters { field path value } text rendered { header { text } buttons { url } } mapping { name } }
  }
}`;

describe('a dry run', () => {
  test('shows to whom, with what and how it would read, and leaves no trace', async () => {
    const tenant = await ground.tenant();
    const shop = await tenant.shop({
      mappings: [CONFIRM, { name: 'Shipped', statuses: ['completed'], template: { name: 'plain', language: 'en' } }],
    });
    const tables = [
      'contacts',
      'messages',
      'events',
      'integration_acts',
      'integration_orders',
      'integration_deliveries',
      'idempotency_keys',
    ];
    const count = async () => {
      const counts = [];
      for (const table of tables)
        counts.push(
          (
            await ground.gateway.database.query(`select count(*) as n from ${table} where tenant_id = $1`, [tenant.id])
          )[0],
        );
      return counts;
    };
    const before = await count();
    const { dryRunIntegration: run } = await tenant.data(DRY, {
      id: shop.id,
      payload: wooOrder(),
      topic: 'order.created',
    });
    expect(run.order).toEqual({ orderId: '727', number: '727', status: 'processing', total: '64.80', currency: 'EUR' });
    expect(run.mappings[0]).toMatchObject({
      outcome: 'ACTS',
      mismatch: null,
      reasons: [],
      person: { phone: '0151 23456789', firstName: 'Ana', country: 'DE' },
      phone: '+4915123456789',
      contact: null,
      text: 'Hello Ana, we have your order Coffee "Dawn" of 64.80.',
      rendered: {
        header: { text: 'Order 727' },
        buttons: [{ url: 'https://shop.example/orders/wc_order_58d2d042d1d' }],
      },
    });
    expect(run.mappings[0].parameters).toContainEqual({
      field: 'body.1',
      path: 'line_items[0].name',
      value: 'Coffee "Dawn"',
    });
    expect(run.mappings[1]).toMatchObject({ outcome: 'NOT_MEANT', mismatch: 'OTHER_STATUS', text: 'Thank you.' });
    expect(await count()).toEqual(before);
  });

  test('of a stored payload says what was done already, and why something would be refused', async () => {
    const tenant = await ground.tenant();
    const shop = await tenant.shop();
    await shop.post(wooOrder());
    await shop.post(wooOrder({ id: 2, line_items: [], billing: { phone: '12', first_name: '' } }));
    const [first, second] = await shop.settled();
    const run = async (deliveryId: string | undefined) =>
      (await tenant.data(DRY, { id: shop.id, deliveryId })).dryRunIntegration.mappings[0];
    expect(await run(first?.databaseId)).toMatchObject({ outcome: 'DONE', contact: { firstName: 'Ana' } });
    const refused = await run(second?.databaseId);
    expect(refused.outcome).toBe('REFUSES');
    expect(refused.reasons).toEqual([
      { code: 'PHONE_INVALID', field: 'phone', path: 'billing.phone' },
      { code: 'PARAMETER_MISSING', field: 'body.1', path: 'line_items[0].name' },
    ]);
    expect(refused.parameters).toContainEqual({ field: 'body.0', path: 'billing.first_name', value: 'there' });
  });

  test('foresees an opted-out contact, a missing template and a channel that is paused', async () => {
    const tenant = await ground.tenant();
    const shop = await tenant.shop();
    const reasons = async (payload: object) =>
      (
        await tenant.data(DRY, { id: shop.id, payload, topic: 'order.created' })
      ).dryRunIntegration.mappings[0].reasons.map(({ code }: { code: string }) => code);
    await tenant.data('mutation { createContact(input: { phone: "+4915123456789" }) { id } }');
    await ground.gateway.database.query('update contacts set opted_out_at = now() where tenant_id = $1', [tenant.id]);
    expect(await reasons(wooOrder())).toEqual(['CONTACT_OPTED_OUT']);
    expect(await reasons(wooOrder({ billing: { phone: '0151 7654321' } }))).toEqual([]);
    await ground.gateway.database.query("update templates set status = 'PAUSED' where tenant_id = $1", [tenant.id]);
    expect(await reasons(wooOrder({ billing: { phone: '0151 7654321' } }))).toEqual(['VALIDATION_ERROR']);
  });

  test('takes one payload, a list or object', async () => {
    const tenant = await ground.tenant({ channel: false });
    const shop = await tenant.shop();
    for (const of of [
      {},
      { payload: 'text' },
      { payload: 7 },
      { payload: {}, deliveryId: '01890000-0000-7000-8000-000000000000' },
    ])
      expect(faultsOf(await tenant.ask(DRY, { id: shop.id, ...of }))).toHaveProperty('payload');
    expect((await tenant.data(DRY, { id: shop.id, payload: [] })).dryRunIntegration.order).toBeNull();
  });
});

describe('a replay', () => {
  const REPLAY = `mutation ($id: ID!, $force: Boolean! = false) { replayIntegrationDelivery(id: $id, force: $force) { outcome replays attempts } }`;

  test('does by the mappings of now what was not done, and nothing twice unless it is forced', async () => {
    const tenant = await ground.tenant();
    const shop = await tenant.shop({ mappings: [{ ...CONFIRM, template: { name: 'paused', language: 'en' } }] });
    await shop.post(wooOrder());
    const [refused] = await shop.settled();
    expect(refused?.outcome).toBe('REFUSED');
    const replay = async (force = false) => {
      const answer = await tenant.data(REPLAY, { id: refused?.databaseId, force });
      return [answer.replayIntegrationDelivery, (await shop.settled())[0]?.outcome];
    };
    const mend = `mutation ($id: ID!, $input: UpdateIntegrationMappingInput!) { updateIntegrationMapping(id: $id, input: $input) { template { name } } }`;
    await tenant.data(mend, { id: String(shop.mappings[0]?.databaseId), input: { template: CONFIRM.template } });
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

const LOG = `query ($filter: IntegrationDeliveryFilter, $first: Int, $after: String) {
  integrationDeliveries(filter: $filter, first: $first, after: $after) {
    totalCount pageInfo { hasNextPage endCursor } nodes { id orderId outcome payload rawBody integration { name } results { contact { phone } } }
  }
}`;

test('all that was refused since a time is replayed together, in its order, and nothing is done twice', async () => {
  const tenant = await ground.tenant();
  const shop = await tenant.shop({ mappings: [{ ...CONFIRM, template: { name: 'nobody', language: 'en' } }] });
  const [{ databaseId: mapping = 0 } = {}] = shop.mappings;
  await shop.post(wooOrder({ id: 1 }));
  await shop.settled();
  await new Promise(resolve => setTimeout(resolve, 2));
  const since = new Date().toISOString();
  for (const id of [2, 3]) await shop.post(wooOrder({ id }));
  await shop.post(wooOrder({ id: 4 }), { topic: 'product.updated' });
  await shop.settled();
  const all = (input: object) =>
    tenant.ask(
      'mutation ($input: ReplayIntegrationDeliveriesInput!) { result: replayIntegrationDeliveries(input: $input) { count hasMore lastReceivedAt } }',
      { input: { integrationId: shop.id, since, ...input } },
    );
  const outcomes = async () => (await shop.settled()).map(({ outcome }) => outcome);
  expect(await outcomes()).toEqual(['REFUSED', 'REFUSED', 'REFUSED', 'IGNORED']);
  const change =
    'mutation ($id: ID!, $input: UpdateIntegrationMappingInput!) { updateIntegrationMapping(id: $id, input: $input) { id } }';
  await tenant.data(change, { id: String(mapping), input: { template: CONFIRM.template } });
  const last = (await tenant.data('{ integrationDeliveries { nodes { receivedAt orderId } } }')).integrationDeliveries
    .nodes;
  expect(dataOf(await all({})).result).toEqual({
    count: 2,
    hasMore: false,
    lastReceivedAt: last.find((node: { orderId: string }) => node.orderId === '3').receivedAt,
  });
  expect(await outcomes()).toEqual(['REFUSED', 'ACTED', 'ACTED', 'IGNORED']);
  const bodies = (await tenant.sent()).map(({ body }) => body);
  expect(bodies).toHaveLength(2);
  expect(dataOf(await all({ outcomes: ['ACTED', 'IGNORED'] })).result).toMatchObject({ count: 3 });
  expect(await outcomes()).toEqual(['REFUSED', 'ACTED', 'ACTED', 'IGNORED']);
  expect(await tenant.sent()).toHaveLength(2);
  expect(dataOf(await all({ since: '2999-01-01T00:00:00Z' })).result).toEqual({
    count: 0,
    hasMore: false,
    lastReceivedAt: null,
  });
  for (const faulty of [[], ['WAITING']])
    expect(Object.keys(faultsOf(await all({ outcomes: faulty })))).toEqual(['outcomes']);
  expect(codeOf(await all({ integrationId: '987654321' }))).toBe('NOT_FOUND');
});

test('the log is listed in pages, newest first, by outcome, with payloads where they are asked for', async () => {
  const tenant = await ground.tenant();
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

describe('integrations', () => {
  const READ = `query ($id: ID!) { integration(id: $id) { name kind isEnabled defaultCountry topicPath mappings {
    name isEnabled topics statuses groups { name } paths { phone orderId status } template { name language channel { id } header { text { path } }
      body { path fallback text } bodyByName { name value { path } } buttons { index value { path } } } } } }`;

  test('read as they were written, with the defaults of their kind', async () => {
    const tenant = await ground.tenant();
    const mapping = { ...CONFIRM, paths: { phone: 'shipping.phone', status: [] } };
    const shop = await tenant.shop({ defaultCountry: 'de', mappings: [mapping] });
    const { integration } = await tenant.data(READ, { id: String(shop.databaseId) });
    expect(integration).toMatchObject({
      kind: 'WOOCOMMERCE',
      isEnabled: true,
      defaultCountry: 'DE',
      topicPath: 'event',
    });
    expect(integration.mappings[0]).toMatchObject({
      isEnabled: true,
      topics: ['order.created', 'order.updated'],
      statuses: [],
      paths: { phone: ['shipping.phone'], orderId: ['id'], status: [] },
      template: {
        name: 'order_confirmed',
        header: { text: { path: 'number' } },
        body: [
          { path: 'billing.first_name', fallback: 'there', text: null },
          { path: 'line_items[0].name' },
          { path: 'total' },
        ],
        bodyByName: [],
        buttons: [{ index: 0, value: { path: 'order_key' } }],
      },
    });
  });

  test('are changed, switched off and taken away, mappings one by one', async () => {
    const tenant = await ground.tenant();
    const shop = await tenant.shop();
    const change =
      'mutation ($id: ID!, $input: UpdateIntegrationInput!) { updateIntegration(id: $id, input: $input) { name isEnabled defaultCountry } }';
    expect(
      (await tenant.data(change, { id: shop.id, input: { name: 'New', defaultCountry: 'FR' } })).updateIntegration,
    ).toEqual({ name: 'New', isEnabled: true, defaultCountry: 'FR' });
    expect(
      (await tenant.data(change, { id: shop.id, input: { isEnabled: false, defaultCountry: null } })).updateIntegration,
    ).toEqual({ name: 'New', isEnabled: false, defaultCountry: null });
    const add =
      'mutation ($input: CreateIntegrationMappingInput!) { createIntegrationMapping(input: $input) { id databaseId topics template { name } } }';
    const { createIntegrationMapping: added } = await tenant.data(add, {
      input: { integrationId: shop.id, name: 'Second', topics: [], idempotencyKey: 'k' },
    });
    expect(added).toMatchObject({ topics: [], template: null });
    expect(
      (await tenant.data(add, { input: { integrationId: shop.id, name: 'Second', topics: [], idempotencyKey: 'k' } }))
        .createIntegrationMapping.id,
    ).toBe(added.id);
    const off =
      'mutation ($id: ID!) { updateIntegrationMapping(id: $id, input: { isEnabled: false }) { isEnabled name topics } }';
    expect((await tenant.data(off, { id: added.id })).updateIntegrationMapping).toEqual({
      isEnabled: false,
      name: 'Second',
      topics: [],
    });
    await tenant.data('mutation ($id: ID!) { deleteIntegrationMapping(id: $id) { name } }', { id: added.id });
    expect((await tenant.data(READ, { id: shop.id })).integration.mappings).toHaveLength(1);
    await tenant.data('mutation ($id: ID!) { deleteIntegration(id: $id) { name } }', { id: shop.id });
    expect(codeOf(await tenant.ask(READ, { id: shop.id }))).toBe('NOT_FOUND');
    expect((await shop.post(wooOrder())).status).toBe(404);
  });

  test('with faults are refused whole, every fault by its field', async () => {
    const tenant = await ground.tenant({ channel: false });
    const input = {
      kind: 'WOOCOMMERCE',
      name: ' ',
      secret: 'short',
      defaultCountry: 'XX',
      topicPath: 'a[',
      mappings: [
        {
          name: 'x'.repeat(101),
          topics: [''],
          statuses: Array.from({ length: 21 }, String),
          paths: { phone: ['a..b'] },
          groupIds: ['99'],
        },
        {
          name: 'ok',
          template: {
            name: '',
            language: 'en',
            channelId: encodeGlobalId('Channel', 99),
            header: { text: {}, image: { text: 'ftp://x' } },
            body: [{ path: 'a', text: 'b' }, { path: 'x y' }, { text: 'a', fallback: 'b' }, { text: ' ' }],
            bodyByName: [{ name: 'a b', value: { path: 'a' } }],
          },
        },
      ],
    };
    expect(Object.keys(faultsOf(await tenant.ask(CREATE, { input })) ?? {}).sort()).toEqual(
      [
        'name',
        'secret',
        'defaultCountry',
        'topicPath',
        'mappings.0.name',
        'mappings.0.topics.0',
        'mappings.0.statuses',
        'mappings.0.paths.phone.0',
        'mappings.0.groupIds',
        'mappings.1.template.name',
        'mappings.1.template.channelId',
        'mappings.1.template.header.text',
        'mappings.1.template.header.image.text',
        'mappings.1.template.body.0',
        'mappings.1.template.body.1.path',
        'mappings.1.template.body.2.fallback',
        'mappings.1.template.body.3.text',
        'mappings.1.template.bodyByName.0.name',
      ].sort(),
    );
    expect((await tenant.data('{ integrations { totalCount } }')).integrations.totalCount).toBe(0);
    await tenant.data(CREATE, { input: { kind: 'GENERIC', name: 'Taken' } });
    expect(faultsOf(await tenant.ask(CREATE, { input: { kind: 'GENERIC', name: 'TAKEN' } }))).toEqual({
      name: ['Is already taken.'],
    });
    expect(
      faultsOf(await tenant.ask(CREATE, { input: { kind: 'GENERIC', name: 'x', secret: 'whsec_%%%%' } })),
    ).toHaveProperty('secret');
  });

  test('are fifty at the most, however many are made at once', async () => {
    const tenant = await ground.tenant();
    await ground.gateway.database.query(
      `insert into integrations (tenant_id, kind, name, key) select $1, 'generic', 'Old ' || n, 'none ' || n from generate_series(1, 48) n`,
      [tenant.id],
    );
    const make = (name: string) => tenant.ask(CREATE, { input: { kind: 'GENERIC', name } });
    const made = await Promise.all(['a', 'b', 'c', 'd'].map(make));
    expect(made.map(codeOf).sort()).toEqual(['FEATURE_LIMIT_EXCEEDED', 'FEATURE_LIMIT_EXCEEDED', undefined, undefined]);
    await tenant.data('mutation ($id: ID!) { deleteIntegration(id: $id) { id } }', {
      id: made.find(answer => answer.data)?.data.createIntegration.integration.id,
    });
    dataOf(await make('e'));
  });

  test('are made once for a key, and need a plan that includes them', async () => {
    const tenant = await ground.tenant({ channel: false });
    const input = { kind: 'GENERIC', name: 'Once', idempotencyKey: 'once' };
    const first = (await tenant.data(CREATE, { input })).createIntegration;
    const second = (await tenant.data(CREATE, { input })).createIntegration;
    expect([second.integration, second.secret]).toEqual([first.integration, null]);
    const [plan] = await ground.gateway.database.query<{ name: string }>(
      "select name from plans where not 'integrations' = any(features) limit 1",
    );
    if (!plan) throw new Error('Every plan includes integrations.');
    const poor = await ground.tenant({ channel: false, plan: plan.name });
    expect(codeOf(await poor.ask(CREATE, { input }))).toBe('FEATURE_NOT_AVAILABLE');
  });
});

test('an order is followed as an event by whoever may read integrations', async () => {
  const tenant = await ground.tenant();
  const shop = await tenant.shop();
  const query =
    'subscription { events(types: ["order.received"]) { type ... on OrderEvent { order { orderId status } topic integrationId contactId } } }';
  const response = await fetch(`${ground.gateway.url}/graphql`, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      accept: 'text/event-stream',
      authorization: `Bearer ${tenant.token}`,
    },
    body: JSON.stringify({ query }),
  });
  const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
  await shop.post(wooOrder(), { topic: 'order.created' });
  let text = '';
  await eventually(async () => {
    text += (await reader?.read())?.value ?? '';
    expect(text).toContain('order.received');
  });
  const line = /data: (\{.*order\.received.*\})/.exec(text)?.[1] ?? '{}';
  expect(JSON.parse(line).data.events).toEqual({
    type: 'order.received',
    order: { orderId: '727', status: 'processing' },
    topic: 'order.created',
    integrationId: shop.databaseId,
    contactId: expect.any(Number),
  });
  await reader?.cancel();
});

test('what is received and what becomes of it is counted', async () => {
  const text = await (await fetch(`${ground.gateway.url}/metrics`)).text();
  expect(text).toMatch(/parley_integration_requests_total\{outcome="stored"\} [1-9]/);
  expect(text).toMatch(/parley_integration_requests_total\{outcome="unauthorized"\} [1-9]/);
  expect(text).toMatch(/parley_integration_deliveries_total\{outcome="acted"\} [1-9]/);
});
