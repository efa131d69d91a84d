import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { faultsOf } from '../../../support/answers.ts';
import { CONFIRM, type Fixture, startFixture } from '../fixture.ts';
import { wooOrder } from '../fixtures.ts';

let fixture: Fixture;
beforeAll(async () => {
  fixture = await startFixture();
});
afterAll(() => fixture.gateway.stop());

const DRY = `query ($id: ID!, $deliveryId: ID, $payload: JSON, $topic: String) {
  dryRunIntegration(integrationId: $id, deliveryId: $deliveryId, payload: $payload, topic: $topic) {
    topic order { orderId number status total { amount currency } }
    mappings { outcome mismatch reasons { code field path } person { phone firstName country } phone contact { firstName } groups { name }
      parameters { field path value } text rendered { header { text } buttons { url } } mapping { name } }
  }
}`;

describe('a dry run', () => {
  test('shows the recipient, the values and the text, without side effects', async () => {
    const tenant = await fixture.tenant();
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
            await fixture.gateway.database.query(`select count(*) as n from ${table} where tenant_id = $1`, [tenant.id])
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
    expect(run.order).toEqual({
      orderId: '727',
      number: '727',
      status: 'processing',
      total: { amount: '64.80', currency: 'EUR' },
    });
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

  test('of a stored payload shows what was already done, and why something would be refused', async () => {
    const tenant = await fixture.tenant();
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

  test('reports an opted-out contact, a missing template and a paused channel', async () => {
    const tenant = await fixture.tenant();
    const shop = await tenant.shop();
    const reasons = async (payload: object) =>
      (
        await tenant.data(DRY, { id: shop.id, payload, topic: 'order.created' })
      ).dryRunIntegration.mappings[0].reasons.map(({ code }: { code: string }) => code);
    await tenant.data('mutation { createContact(input: { phone: "+4915123456789" }) { contact { id } } }');
    await fixture.gateway.database.query('update contacts set opted_out_at = now() where tenant_id = $1', [tenant.id]);
    expect(await reasons(wooOrder())).toEqual(['CONTACT_OPTED_OUT']);
    expect(await reasons(wooOrder({ billing: { phone: '0151 7654321' } }))).toEqual([]);
    await fixture.gateway.database.query("update templates set status = 'PAUSED' where tenant_id = $1", [tenant.id]);
    expect(await reasons(wooOrder({ billing: { phone: '0151 7654321' } }))).toEqual(['VALIDATION_ERROR']);
  });

  test('accepts one payload, a list or an object', async () => {
    const tenant = await fixture.tenant({ channel: false });
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
