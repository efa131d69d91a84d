import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { encodeGlobalId } from '../../../src/core/global-ids.ts';
import { codeOf, dataOf, faultsOf } from '../../support/answers.ts';
import { eventually } from '../../support/gateway.ts';
import { CONFIRM, CREATE, type Fixture, postWoo, startFixture } from './fixture.ts';
import { wooOrder } from './fixtures.ts';

let fixture: Fixture;
beforeAll(async () => {
  fixture = await startFixture();
});
afterAll(() => fixture.gateway.stop());

describe('integrations', () => {
  const READ = `query ($id: ID!) { integration(id: $id) { name kind isEnabled defaultCountry topicPath mappings {
    name isEnabled topics statuses groups { name } paths { phone orderId status } template { name language channel { id } header { text { path } }
      body { path fallback text } bodyByName { name value { path } } buttons { index value { path } } } } } }`;

  test('are returned as created, with the defaults of their kind', async () => {
    const tenant = await fixture.tenant();
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

  test('are updated, disabled and deleted, mappings individually', async () => {
    const tenant = await fixture.tenant();
    const shop = await tenant.shop();
    const change = async (input: object) =>
      (
        await tenant.run(
          'updateIntegration',
          { id: shop.id, ...input },
          'integration { name displayName isEnabled defaultCountry }',
        )
      ).integration;
    expect(await change({ name: 'New', defaultCountry: 'FR' })).toEqual({
      name: 'New',
      displayName: 'New',
      isEnabled: true,
      defaultCountry: 'FR',
    });
    expect(await change({ isEnabled: false, defaultCountry: null })).toMatchObject({
      name: 'New',
      isEnabled: false,
      defaultCountry: null,
    });
    const second = { integrationId: shop.id, name: 'Second', topics: [], idempotencyKey: 'k' };
    const add = async () =>
      (await tenant.run('createIntegrationMapping', second, 'integrationMapping { id topics template { name } }'))
        .integrationMapping;
    const added = await add();
    expect(added).toMatchObject({ topics: [], template: null });
    expect((await add()).id).toBe(added.id);
    expect(
      await tenant.run(
        'updateIntegrationMapping',
        { id: added.id, isEnabled: false },
        'integrationMapping { isEnabled name topics }',
      ),
    ).toMatchObject({ integrationMapping: { isEnabled: false, name: 'Second', topics: [] } });
    const remove = (name: string, id: string) =>
      tenant.run(name, { id, idempotencyKey: `remove ${name}` }, 'deletedId');
    for (const _again of [1, 2])
      expect(await remove('deleteIntegrationMapping', added.id)).toMatchObject({ deletedId: added.id });
    expect((await tenant.data(READ, { id: shop.id })).integration.mappings).toHaveLength(1);
    for (const _again of [1, 2])
      expect(await remove('deleteIntegration', shop.id)).toMatchObject({ deletedId: shop.id });
    expect((await tenant.data(READ, { id: shop.id })).integration).toBeNull();
    expect((await shop.post(wooOrder())).status).toBe(404);
  });

  test('with errors are rejected as a whole, every error by field', async () => {
    const tenant = await fixture.tenant({ channel: false });
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
            channelId: encodeGlobalId('Channel', tenant.id, 99),
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

  test('are limited to 50, even with concurrent requests', async () => {
    const tenant = await fixture.tenant();
    await fixture.gateway.database.query(
      `insert into integrations (tenant_id, kind, name, key) select $1, 'generic', 'Old ' || n, 'none ' || n from generate_series(1, 48) n`,
      [tenant.id],
    );
    const make = (name: string) => tenant.ask(CREATE, { input: { kind: 'GENERIC', name } });
    const made = await Promise.all(['a', 'b', 'c', 'd'].map(make));
    expect(made.map(codeOf).sort()).toEqual(['FEATURE_LIMIT_EXCEEDED', 'FEATURE_LIMIT_EXCEEDED', undefined, undefined]);
    const one = made.find(answer => answer.data.createIntegration.integration)?.data.createIntegration.integration;
    await tenant.run('deleteIntegration', { id: one.id }, 'deletedId');
    dataOf(await make('e'));
  });

  test('are created once per idempotency key, and require a plan with integrations', async () => {
    const tenant = await fixture.tenant({ channel: false });
    const input = { kind: 'GENERIC', name: 'Once', idempotencyKey: 'once' };
    const first = (await tenant.data(CREATE, { input })).createIntegration;
    const second = (await tenant.data(CREATE, { input })).createIntegration;
    expect([second.integration, second.secret]).toEqual([first.integration, null]);
    const [plan] = await fixture.gateway.database.query<{ name: string }>(
      "select name from plans where not 'integrations' = any(features) limit 1",
    );
    if (!plan) throw new Error('Every plan includes integrations.');
    const poor = await fixture.tenant({ channel: false, plan: plan.name });
    expect(codeOf(await poor.ask(CREATE, { input }))).toBe('FEATURE_NOT_AVAILABLE');
  });
});

test('order.received is an event for tokens with the scope integrations:read', async () => {
  const tenant = await fixture.tenant();
  const shop = await tenant.shop();
  const query =
    'subscription { events(filter: { types: [ORDER_RECEIVED] }) { type ... on OrderEvent { order { orderId status } topic integration { databaseId } contact { databaseId } } } }';
  const response = await fetch(`${fixture.gateway.url}/graphql`, {
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
    expect(text).toContain('ORDER_RECEIVED');
  });
  const line = /data: (\{.*ORDER_RECEIVED.*\})/.exec(text)?.[1] ?? '{}';
  expect(JSON.parse(line).data.events).toEqual({
    type: 'ORDER_RECEIVED',
    order: { orderId: '727', status: 'processing' },
    topic: 'order.created',
    integration: { databaseId: String(shop.databaseId) },
    contact: { databaseId: expect.any(String) },
  });
  await reader?.cancel();
});

test('metrics count requests and outcomes', async () => {
  const tenant = await fixture.tenant();
  const shop = await tenant.shop();
  await postWoo(shop.url, shop.secret, wooOrder());
  await postWoo(shop.url, 'another secret', wooOrder());
  await shop.settled();
  const text = await (await fetch(`${fixture.gateway.url}/metrics`)).text();
  expect(text).toMatch(/parley_integration_requests_total\{outcome="stored"\} [1-9]/);
  expect(text).toMatch(/parley_integration_requests_total\{outcome="unauthorized"\} [1-9]/);
  expect(text).toMatch(/parley_integration_deliveries_total\{outcome="acted"\} [1-9]/);
});
