import { request } from 'node:http';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { signatureOf } from '../../../../src/features/integrations/intake/signature.ts';
import { eventually } from '../../../support/gateway.ts';
import { bodyOf, CONFIRM, type Fixture, startFixture } from '../fixture.ts';
import { wooOrder } from '../fixtures.ts';

let fixture: Fixture;
beforeAll(async () => {
  fixture = await startFixture({ env: { PARLEY_TRUST_PROXY: 'true' } });
});
afterAll(() => fixture.gateway.stop());

test('an order sends its template once, although its creation and four updates are reported', async () => {
  const tenant = await fixture.tenant();
  const shop = await tenant.shop();
  expect((await shop.post(wooOrder(), { topic: 'order.created' })).status).toBe(200);
  for (let update = 1; update <= 4; update += 1)
    expect((await shop.post(wooOrder({ date_modified: `2026-11-20T09:13:0${update}` }))).status).toBe(200);
  const deliveries = await shop.settled();
  expect(deliveries.map(({ outcome }) => outcome)).toEqual([
    'ACTED',
    'DUPLICATE',
    'DUPLICATE',
    'DUPLICATE',
    'DUPLICATE',
  ]);
  expect(await tenant.sent()).toEqual([
    { to: '+4915123456789', body: 'Hello Ana, we have your order Coffee "Dawn" of 64.80.' },
  ]);
  // Every payload shows which message it is about.
  const messages = new Set(deliveries.flatMap(({ results }) => results.map(({ messageId }) => messageId)));
  expect(messages.size).toBe(1);
  expect(await tenant.events()).toEqual([
    {
      payload: {
        order: { id: '727', number: '727', status: 'processing', total: '64.80', currency: 'EUR' },
        integration: { id: Number(shop.databaseId), name: expect.any(String), kind: 'woocommerce' },
        topic: 'order.created',
        contact_id: Number(deliveries[0]?.results[0]?.contactId),
      },
    },
  ]);
});

test('the network receives the template with all values', async () => {
  const tenant = await fixture.tenant();
  const shop = await tenant.shop();
  await shop.post(wooOrder({ id: 900, billing: { phone: '+49 151 7770001' } }));
  await shop.settled();
  const message = await eventually(() => {
    const [first] = fixture.gateway.emulator.sent({ to: '+491517770001' }).messages;
    expect(first).toBeDefined();
    return first;
  });
  expect(message?.content).toMatchObject({
    name: 'order_confirmed',
    components: [
      { type: 'header', parameters: [{ type: 'text', text: '900' }] },
      { type: 'body', parameters: [{ text: 'Ana' }, { text: 'Coffee "Dawn"' }, { text: '64.80' }] },
      { type: 'button', sub_type: 'url', index: '0', parameters: [{ text: 'wc_order_58d2d042d1d' }] },
    ],
  });
});

test('a mapping may act on several statuses, once each', async () => {
  const tenant = await fixture.tenant();
  const shipped = {
    name: 'Shipped',
    statuses: ['Completed'],
    template: { name: 'order_shipped', language: 'en', bodyByName: [{ name: 'number', value: { path: 'number' } }] },
  };
  const shop = await tenant.shop({ mappings: [{ ...CONFIRM, statuses: ['processing'] }, shipped] });
  for (const status of ['pending', 'processing', 'processing', 'completed', 'completed'])
    await shop.post(wooOrder({ status }), {});
  const deliveries = await shop.settled();
  expect(deliveries.map(({ outcome }) => outcome)).toEqual(['IGNORED', 'ACTED', 'DUPLICATE', 'ACTED', 'DUPLICATE']);
  expect((await tenant.sent()).map(({ body }) => body)).toEqual([
    expect.stringContaining('Hello Ana'),
    'Your order 727 is on its way.',
  ]);
  expect((await tenant.events()).map(({ payload }) => (payload['order'] as { status: string }).status)).toEqual([
    'pending',
    'processing',
    'completed',
  ]);
});

test("WooCommerce's unsigned ping gets exactly 200 and is not stored", async () => {
  const tenant = await fixture.tenant();
  const shop = await tenant.shop();
  const ping = (url: string, body: string) =>
    fetch(url, { method: 'POST', headers: { 'content-type': 'application/x-www-form-urlencoded' }, body });
  expect((await ping(shop.url, 'webhook_id=5')).status).toBe(200);
  for (const body of ['webhook_id=5&x=1', 'webhook_id=', 'webhook_id=5x', 'x=webhook_id=5', ''])
    expect((await ping(shop.url, body)).status, body).toBe(401);
  const generic = await tenant.shop({ kind: 'GENERIC' });
  expect((await ping(generic.url, 'webhook_id=5')).status).toBe(401);
  expect(await shop.settled()).toEqual([]);
});

test('without a valid signature, or with a modified byte, nothing is accepted or stored', async () => {
  const tenant = await fixture.tenant();
  const [shop, other] = [await tenant.shop(), await tenant.shop()];
  const body = JSON.stringify(wooOrder());
  const good = signatureOf(Buffer.from(body), shop.secret);
  for (const signature of [
    signatureOf(Buffer.from(body), other.secret),
    signatureOf(Buffer.from(`${body} `), shop.secret),
    good.toLowerCase(),
    `sha256=${good}`,
    good.slice(0, -1),
    'x',
  ])
    expect((await shop.post(body, { signature })).status, signature).toBe(401);
  const bare = await fetch(shop.url, { method: 'POST', body });
  expect([bare.status, await bare.json()]).toEqual([401, { error: 'unauthorized' }]);
  expect((await shop.post(body, { signature: good })).status).toBe(200);
  expect(await shop.settled()).toHaveLength(1);
});

test('an unknown integration gets 404 for any payload', async () => {
  const tenant = await fixture.tenant();
  const shop = await tenant.shop();
  for (const key of ['x', 'A'.repeat(32), encodeURIComponent("' or 1=1 --"), '%00'])
    expect((await fetch(`${fixture.gateway.url}/integrations/${key}`, { method: 'POST', body: '{}' })).status).toBe(
      404,
    );
  expect((await shop.post(wooOrder(), { url: `${shop.url}x` })).status).toBe(404);
  expect((await fetch(shop.url)).status).toBe(404);
});

test('a repeated delivery is stored once; two orders of the same second, to which WooCommerce gives the same id, are both stored', async () => {
  const tenant = await fixture.tenant();
  const shop = await tenant.shop();
  const [first, second] = [wooOrder({ id: 1 }), wooOrder({ id: 2 })];
  const answers = await Promise.all(Array.from({ length: 5 }, () => shop.post(first, { deliveryId: 'one-second' })));
  expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200, 200]);
  expect(
    (await Promise.all(answers.map(answer => answer.json()))).filter(({ status }) => status === 'stored'),
  ).toHaveLength(1);
  await shop.post(second, { deliveryId: 'one-second' });
  expect((await shop.settled()).map(({ orderId }) => orderId)).toEqual(['1', '2']);
  expect(await tenant.sent()).toHaveLength(2);
});

test('a disabled integration answers with success and stores nothing', async () => {
  const tenant = await fixture.tenant();
  const shop = await tenant.shop({ isEnabled: false });
  const answer = await shop.post(wooOrder());
  expect([answer.status, await answer.json()]).toEqual([200, { status: 'disabled' }]);
  expect((await shop.post(wooOrder(), { signature: 'x' })).status).toBe(401);
  await tenant.run('updateIntegration', { id: shop.id, isEnabled: true }, 'integration { isEnabled }');
  await shop.post(wooOrder());
  expect(await shop.settled()).toHaveLength(1);
});

test('payloads are accepted by signature, with any content type', async () => {
  const tenant = await fixture.tenant();
  const shop = await tenant.shop({ mappings: [] });
  const types = ['application/json', 'text/plain; charset=', ';;;', '', undefined, 'multipart/form-data'];
  for (const [id, type] of types.entries()) {
    const body = bodyOf(wooOrder({ id }));
    const status = await new Promise((resolve, reject) => {
      const headers = { 'x-wc-webhook-signature': signatureOf(Buffer.from(body), shop.secret) };
      const sent = request(shop.url, {
        method: 'POST',
        headers: { ...headers, ...(type !== undefined && { 'content-type': type }) },
      });
      sent
        .on('response', response => resolve(response.resume().statusCode))
        .on('error', reject)
        .end(body);
    });
    expect([type, status]).toEqual([type, 200]);
  }
  expect(await shop.settled()).toHaveLength(types.length);
});

test('a payload over the size limit is rejected before it is read', async () => {
  const tenant = await fixture.tenant();
  const shop = await tenant.shop();
  expect((await shop.post(wooOrder({ customer_note: 'x'.repeat(1024 * 1024) }))).status).toBe(413);
  expect((await shop.post(wooOrder({ customer_note: 'x'.repeat(900_000) }))).status).toBe(200);
});

test('a flood of unknown keys is rate limited, and a shop behind the same address is still accepted', async () => {
  const tenant = await fixture.tenant();
  const shop = await tenant.shop();
  // An address of its own: for that of other tests, a minute may end within the flood.
  const address = '203.0.113.1';
  const invented = () =>
    fetch(`${fixture.gateway.url}/integrations/${'B'.repeat(32)}`, {
      method: 'POST',
      headers: { 'x-forwarded-for': address },
      body: '{}',
    });
  const statuses = (await Promise.all(Array.from({ length: 61 }, invented))).map(({ status }) => status);
  expect(new Set(statuses)).toEqual(new Set([404, 429]));
  expect((await invented()).status).toBe(429);
  expect((await Promise.all([invented(), shop.post(wooOrder(), { address })])).map(({ status }) => status)).toEqual([
    429, 200,
  ]);
});

test('the limit per minute is by size, not by number of orders', async () => {
  const tenant = await fixture.tenant();
  const shop = await tenant.shop({ mappings: [] });
  const { limits } = fixture.gateway.gateway.resources;
  const [limit, order] = [256 * 1024, Math.ceil(bodyOf(wooOrder({ id: 30 })).length / 1_024)];
  await limits.consume([{ name: 'integration', key: `${tenant.id}:${shop.databaseId}`, limit }], limit - 30 * order);
  const post = async (id: number) => (await shop.post(wooOrder({ id }))).status;
  expect(new Set(await Promise.all(Array.from({ length: 30 }, (_, id) => post(id + 1))))).toEqual(new Set([200]));
  expect(await post(31)).toBe(429);
  expect(await shop.settled()).toHaveLength(30);
});

test('a client without the secret is rate-limited after sixty requests in a minute, and other integrations are not', async () => {
  const tenant = await fixture.tenant();
  const shop = await tenant.shop();
  const knock = () => shop.post('{}', { signature: 'no' });
  const statuses = [];
  for (let time = 0; time < 62; time += 1) statuses.push((await knock()).status);
  expect(statuses.slice(0, 60)).toEqual(Array.from({ length: 60 }, () => 401));
  const limited = await knock();
  expect(limited.status).toBe(429);
  expect(Number(limited.headers.get('retry-after'))).toBeGreaterThan(0);
  const other = await tenant.shop();
  expect((await other.post(wooOrder())).status).toBe(200);
  expect(await shop.settled()).toEqual([]);
});
