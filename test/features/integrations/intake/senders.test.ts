import { createHmac } from 'node:crypto';
import { Webhook } from 'standardwebhooks';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { HOUR } from '../../../../src/platform/clock.ts';
import { faultsOf, payloadOf } from '../../../support/answers.ts';
import { type Caller, type Fixture, postWoo, type Shop, startFixture } from '../fixture.ts';
import { SHOPIFY_ID, shopifyOrder, wooOrder } from '../fixtures.ts';

let fixture: Fixture;
beforeAll(async () => {
  fixture = await startFixture();
});
afterAll(() => fixture.gateway.stop());

const rotate = (tenant: Caller, shop: Shop, input: object) =>
  fixture.gateway.mutate(
    'rotateIntegrationSecret',
    { id: shop.id, ...input },
    'secret integration { hasSecret previousSecretUntil }',
    tenant.token,
  );
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

  test('rejects everything until its secret is set; then an order sends its template once, however often it is reported', async () => {
    const tenant = await fixture.tenant();
    const shop = await tenant.shop({ kind: 'SHOPIFY', mappings: [PAID] });
    expect(shop).toMatchObject({ secret: null, hasSecret: false });
    expect((await post(shop.url, '', shopifyOrder())).status).toBe(401);
    const secret = 'a'.repeat(64);
    expect(faultsOf(await rotate(tenant, shop, {}))).toHaveProperty('secret');
    expect(payloadOf(await rotate(tenant, shop, { secret }))).toMatchObject({
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

  test('authenticates with the secret in a header or a Standard Webhooks signature', async () => {
    const tenant = await fixture.tenant();
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
    const now = new Date(fixture.gateway.gateway.resources.clock.now());
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

test('after a rotation the previous secret stays valid during the overlap, and the new one is shown once', async () => {
  const tenant = await fixture.tenant();
  const shop = await tenant.shop();
  const status = async (secret: string, id: number) => (await postWoo(shop.url, secret, wooOrder({ id }))).status;
  const key = { idempotencyKey: 'rotate', overlapHours: 2 };
  const { secret } = payloadOf(await rotate(tenant, shop, key));
  expect(payloadOf(await rotate(tenant, shop, key)).secret).toBeNull();
  expect([await status(shop.secret, 1), await status(secret, 2)]).toEqual([200, 200]);
  await fixture.pass(2 * HOUR + 1_000);
  expect([await status(shop.secret, 3), await status(secret, 4)]).toEqual([401, 200]);
  const last = payloadOf(await rotate(tenant, shop, { overlapHours: 0 })).secret;
  expect([await status(secret, 5), await status(last, 6)]).toEqual([401, 200]);
  const [row] = await fixture.gateway.database.query('select * from integrations where id = $1', [shop.databaseId]);
  expect(JSON.stringify({ row, logs: fixture.gateway.logs })).not.toContain(last);
});
