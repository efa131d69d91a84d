import { afterAll, beforeAll, expect, test } from 'vitest';
import { newId } from '../../../../src/core/ids.ts';
import { notePeople } from '../../../../src/features/integrations/intake/people.sql.ts';
import { createOrderReceiver } from '../../../../src/features/integrations/intake/receive.ts';
import { signatureOf } from '../../../../src/features/integrations/intake/signature.ts';
import {
  claimDelivery,
  postponeDelivery,
  settleDelivery,
} from '../../../../src/features/integrations/orders/deliveries.sql.ts';
import { processDeliveries } from '../../../../src/features/integrations/orders/process.ts';
import type { Resources } from '../../../../src/schema/context.ts';
import { codeOf } from '../../../support/answers.ts';
import { testLane } from '../../../support/lane.ts';
import { type SecondGateway, startSecondGateway } from '../../../support/second-gateway.ts';
import { bodyOf, CONFIRM, type Fixture, type Shop, startFixture } from '../fixture.ts';
import { wooOrder } from '../fixtures.ts';

/** No worker of their own: the tests drain, from both processes at once, as when a lane was taken over from one that is not dead. */
let fixture: Fixture;
let beside: SecondGateway;
beforeAll(async () => {
  fixture = await startFixture({ role: 'gateway' });
  beside = await startSecondGateway(fixture.gateway);
});
afterAll(async () => {
  await beside.stop();
  await fixture.gateway.stop();
});

const drainAll = (tenantId: number, shop: Shop, times = 3) => {
  const lane = testLane('integrations', tenantId, `${tenantId}:${shop.databaseId}`);
  const both: Resources[] = [fixture.gateway.gateway.resources, beside.resources];
  return Promise.all(
    Array.from({ length: times }, () => both.map(resources => processDeliveries(resources, lane))).flat(),
  );
};
const second = (shop: Shop): string => shop.url.replace(fixture.gateway.url, beside.url);

test('five concurrent payloads of one order and status, over two processes, send one template', async () => {
  const tenant = await fixture.tenant();
  const shop = await tenant.shop();
  for (let round = 1; round <= 4; round += 1) {
    const posts = Array.from({ length: 5 }, (_, index) =>
      shop.post(wooOrder({ id: round, date_modified: String(index), billing: { first_name: `Ana ${index}` } }), {
        ...(index % 2 === 1 && { url: second(shop) }),
      }),
    );
    expect((await Promise.all(posts)).map(({ status }) => status)).toEqual([200, 200, 200, 200, 200]);
    await drainAll(tenant.id, shop);
  }
  const deliveries = await shop.settled();
  expect(deliveries).toHaveLength(20);
  expect(deliveries.map(({ outcome }) => outcome).filter(outcome => !['ACTED', 'DUPLICATE'].includes(outcome))).toEqual(
    [],
  );
  for (let round = 1; round <= 4; round += 1) {
    const about = deliveries.filter(({ orderId }) => orderId === String(round));
    expect(about.some(({ outcome }) => outcome === 'ACTED')).toBe(true);
    expect(new Set(about.map(({ results }) => results[0]?.messageId)).size).toBe(1);
  }
  expect(await tenant.sent()).toHaveLength(4);
  expect(await tenant.events()).toHaveLength(4);
});

test('a delivery posted to both processes concurrently is stored once', async () => {
  const tenant = await fixture.tenant();
  const shop = await tenant.shop();
  const answers = await Promise.all(
    Array.from({ length: 8 }, (_, index) =>
      shop.post(wooOrder(), { deliveryId: 'same', ...(index % 2 === 1 && { url: second(shop) }) }),
    ),
  );
  const told = await Promise.all(answers.map(answer => answer.json()));
  expect(told.filter(({ status }) => status === 'stored')).toHaveLength(1);
  await drainAll(tenant.id, shop);
  expect(await shop.settled()).toHaveLength(1);
});

test('concurrent orders of a new customer create one contact and are all processed', async () => {
  const tenant = await fixture.tenant();
  const shops = [
    await tenant.shop(),
    await tenant.shop(),
    await tenant.shop({ mappings: [{ ...CONFIRM, name: 'Other' }] }),
  ];
  await Promise.all(shops.flatMap((shop, at) => [1, 2, 3].map(id => shop.post(wooOrder({ id: 10 * at + id })))));
  await Promise.all(shops.map(shop => drainAll(tenant.id, shop, 1)));
  for (const shop of shops)
    expect((await shop.settled()).map(({ outcome }) => outcome)).toEqual(['ACTED', 'ACTED', 'ACTED']);
  const { contacts } = await tenant.data('{ contacts { totalCount } }');
  expect(contacts.totalCount).toBe(1);
  expect(await tenant.sent()).toHaveLength(9);
});

test('an integration deleted between authorization and body is not found, and its pending work ends without error', async () => {
  const tenant = await fixture.tenant();
  const shop = await tenant.shop();
  const { resources } = fixture.gateway.gateway;
  const receiver = createOrderReceiver(resources);
  const integration = await receiver.authorize(shop.url.split('/').at(-1) ?? '', '192.0.2.1');
  if (integration === 'unknown' || 'limited' in integration) throw new Error('The request was refused.');
  await tenant.run('deleteIntegration', { id: shop.id }, 'deletedId');
  const body = Buffer.from(bodyOf(wooOrder()));
  const headers = { 'x-wc-webhook-signature': signatureOf(body, shop.secret) };
  expect(await receiver.receive(integration, headers, body, '192.0.2.1')).toBe('unknown');
  await notePeople(resources.db.write, tenant.id, newId(), ['contact:1']);
  const [row] = await fixture.gateway.database.query('select * from integration_delivery_people where tenant_id = $1', [
    tenant.id,
  ]);
  expect(row).toBeUndefined();
});

test('a process that has lost its claim writes nothing', async () => {
  const tenant = await fixture.tenant();
  const shop = await tenant.shop();
  await shop.post(wooOrder());
  const { db } = beside.resources;
  const at = (ms: number): string => new Date(Date.now() + ms).toISOString();
  // Taken, and so slowly worked on that the claim has run out.
  const slow = newId();
  const taken = await claimDelivery(db.write, tenant.id, Number(shop.databaseId), slow, -1_000);
  expect(taken?.attempts).toBe(1);
  await drainAll(tenant.id, shop);
  const settled = { topic: 'x', orderId: null, orderStatus: null, results: [], reason: null, people: [] };
  expect(await settleDelivery(db.write, tenant.id, taken?.id ?? '', slow, 'failed', settled, at(0))).toBe(false);
  await postponeDelivery(db.write, tenant.id, taken?.id ?? '', slow, settled, 0);
  expect(await shop.settled()).toMatchObject([{ outcome: 'ACTED', topic: 'order.updated' }]);
});

test('a forced replay processed by two processes sends once more, not twice', async () => {
  const tenant = await fixture.tenant();
  const shop = await tenant.shop();
  await shop.post(wooOrder());
  await drainAll(tenant.id, shop);
  const [delivery] = await shop.settled();
  const input = { id: delivery?.databaseId, force: true };
  const force = () =>
    fixture.gateway.mutate('replayIntegrationDelivery', input, 'integrationDelivery { outcome }', tenant.token);
  const forced = await Promise.all([1, 2, 3].map(force));
  // One of them makes it wait; the others are told that it does.
  expect(forced.map(codeOf).sort()).toEqual(['CONFLICT', 'CONFLICT', undefined]);
  await drainAll(tenant.id, shop);
  expect(await tenant.sent()).toHaveLength(2);
  expect(await tenant.events()).toHaveLength(1);
});
