import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { peopleIn, peopleOf } from '../../../../src/features/integrations/intake/people.ts';
import { codeOf, faultsOf } from '../../../support/answers.ts';
import { type Caller, CONFIRM, type Fixture, type Shop, startFixture } from '../fixture.ts';
import { wooOrder } from '../fixtures.ts';

let fixture: Fixture;
beforeAll(async () => {
  fixture = await startFixture();
});
afterAll(() => fixture.gateway.stop());

const LOG = `query ($id: ID!) { integrationDeliveries(filter: { integrationId: { eq: $id } }, orderBy: [{ field: ID, direction: ASC }]) {
  nodes { databaseId outcome orderId erasedAt payload rawBody reason { code } results { contactId } } } }`;
const log = async (tenant: Caller, shop: Shop) => (await tenant.data(LOG, { id: shop.id })).integrationDeliveries.nodes;
const contactOf = async (tenant: Caller, phone: string): Promise<string> =>
  (
    await tenant.data('query ($phone: String!) { contacts(filter: { phone: { eq: $phone } }) { nodes { id } } }', {
      phone,
    })
  ).contacts.nodes[0].id;
const remove = (tenant: Caller, id: string) =>
  tenant.data('mutation ($id: ID!) { deleteContact(input: { id: $id }) { deletedId } }', { id });

test('deleting a contact erases the payloads about the person, including those without effect', async () => {
  const tenant = await fixture.tenant();
  const shop = await tenant.shop({ mappings: [{ ...CONFIRM, statuses: ['processing'] }] });
  const other = { phone: '0151 99999999', email: 'other@example.com' };
  await shop.post(wooOrder({ id: 1 }));
  await shop.post(wooOrder({ id: 2, status: 'pending', billing: { phone: '+49 (151) 234-56789', email: '' } }));
  await shop.post(wooOrder({ id: 3, billing: { phone: 'none', email: 'ANA@example.com' } }));
  await shop.post(wooOrder({ id: 4, billing: other, shipping: { country: 'DE', phone: '0151 23456789' } }));
  await shop.post(wooOrder({ id: 5, billing: other }));
  await shop.settled();
  expect((await log(tenant, shop)).map((one: { outcome: string }) => one.outcome)).toEqual([
    'ACTED',
    'IGNORED',
    'REFUSED',
    'ACTED',
    'ACTED',
  ]);
  await remove(tenant, await contactOf(tenant, '+4915123456789'));
  const after = await log(tenant, shop);
  const gone = { erasedAt: expect.any(String), payload: null, rawBody: null };
  for (const [index, orderId] of ['1', '2', '3', '4'].entries())
    expect(after[index], orderId).toMatchObject({ orderId, ...gone });
  expect(after[4]).toMatchObject({ orderId: '5', erasedAt: null, payload: { billing: other } });
  const [row] = await fixture.gateway.database.query<{ bytes: string }>(
    `select string_agg(convert_from(body, 'UTF8'), '') as bytes from integration_deliveries where tenant_id = $1`,
    [tenant.id],
  );
  expect(row?.bytes).not.toMatch(/23456789|ana@/i);
});

test('a person with a new number is found by the contact created from the payload', async () => {
  const tenant = await fixture.tenant();
  const shop = await tenant.shop();
  await shop.post(wooOrder({ billing: { email: '' } }));
  await shop.settled();
  const id = await contactOf(tenant, '+4915123456789');
  await tenant.data(
    'mutation ($id: ID!) { updateContact(input: { id: $id, phone: "+4915100000001" }) { contact { id } } }',
    {
      id,
    },
  );
  await remove(tenant, id);
  expect(await log(tenant, shop)).toMatchObject([{ payload: null, erasedAt: expect.any(String) }]);
});

test('an erased payload is neither processed nor replayed, even if it was queued', async () => {
  const tenant = await fixture.tenant();
  const shop = await tenant.shop();
  await shop.post(wooOrder());
  await shop.settled();
  const { query } = fixture.gateway.database;
  // As if it waited to be tried again.
  await query(
    `update integration_deliveries set outcome = 'waiting', due_at = now() + interval '1 hour' where tenant_id = $1`,
    [tenant.id],
  );
  await remove(tenant, await contactOf(tenant, '+4915123456789'));
  await query(`update integration_deliveries set due_at = now() - interval '1 second' where tenant_id = $1`, [
    tenant.id,
  ]);
  fixture.gateway.gateway.resources.lanes.wake('integrations', `${tenant.id}:${shop.databaseId}`);
  await shop.settled();
  const [delivery] = await log(tenant, shop);
  expect(delivery).toMatchObject({ outcome: 'REFUSED', reason: { code: 'PAYLOAD_ERASED' } });
  const { totalCount } = (await tenant.data('{ contacts { totalCount } }')).contacts;
  expect(totalCount).toBe(0);
  const id = delivery.databaseId;
  const replayed = fixture.gateway.mutate(
    'replayIntegrationDelivery',
    { id },
    'integrationDelivery { id }',
    tenant.token,
  );
  expect(codeOf(await replayed)).toBe('CONFLICT');
  const since = { integrationId: shop.id, since: '2026-01-01' };
  expect(await tenant.run('replayIntegrationDeliveries', since, 'count')).toMatchObject({ count: 0 });
  const dry = await tenant.ask(
    'query ($shop: ID!, $id: ID!) { dryRunIntegration(integrationId: $shop, deliveryId: $id) { topic } }',
    {
      shop: shop.id,
      id,
    },
  );
  expect(Object.keys(faultsOf(dry))).toEqual(['deliveryId']);
});

test("another tenant's payloads about the same person stay", async () => {
  const [one, other] = [await fixture.tenant(), await fixture.tenant()];
  const [mine, theirs] = [await one.shop(), await other.shop()];
  for (const shop of [mine, theirs]) await shop.post(wooOrder());
  for (const shop of [mine, theirs]) await shop.settled();
  await remove(one, await contactOf(one, '+4915123456789'));
  expect(await log(one, mine)).toMatchObject([{ payload: null }]);
  expect(await log(other, theirs)).toMatchObject([{ payload: { id: 727 }, erasedAt: null }]);
});

describe('the persons of a payload', () => {
  const shop = { kind: 'woocommerce', default_country: null, mappings: [] } as const;
  test('are all those at the paths of mappings, and no others', () => {
    const payload = {
      billing: { phone: '0151 23456789', country: 'DE', email: 'Ana@Example.com' },
      shipping: { phone: '+55 11 98765-4321' },
    };
    expect(peopleIn(payload, shop)).toEqual(['phone:4915123456789', 'phone:551187654321', 'email:ana@example.com']);
    for (const odd of [{}, [], { billing: null }, { billing: { phone: {}, email: 'x'.repeat(400) } }])
      expect(peopleIn(odd, shop)).toEqual([]);
  });

  test("are found by every spelling of a contact's number", () => {
    expect(
      peopleOf([
        { id: 7, phone: '+5511987654321', email: 'ANA@example.com' },
        { id: 8, phone: null, email: null },
      ]),
    ).toEqual(['contact:7', 'phone:551187654321', 'email:ana@example.com', 'contact:8']);
  });
});
