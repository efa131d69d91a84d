import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { cleanDeliveries } from '../../../../src/features/integrations/housekeeping.ts';
import { eventually } from '../../../support/gateway.ts';
import { CONFIRM, type Fixture, startFixture } from '../fixture.ts';
import { wooOrder } from '../fixtures.ts';

let fixture: Fixture;
beforeAll(async () => {
  fixture = await startFixture();
});
beforeEach(() => fixture.gateway.emulator.resetFaults());
afterAll(() => fixture.gateway.stop());

const mapped = (template: object | null, others: object = {}) => ({
  mappings: [{ name: 'Mapping', template, ...others }],
});
const CONTACT =
  'query ($search: String!) { contacts(search: $search) { nodes { databaseId firstName lastName email groups { name } } } }';

test('a message about an order shows the integration as its sender', async () => {
  const tenant = await fixture.tenant();
  const shop = await tenant.shop({ name: 'Coffee shop' });
  await shop.post(wooOrder());
  await shop.settled();
  const { messages } = await tenant.data(
    '{ messages { nodes { sentBy { kind displayName actor { __typename id displayName } } } } }',
  );
  const actor = { __typename: 'Integration', id: shop.id, displayName: 'Coffee shop' };
  expect(messages.nodes).toEqual([{ sentBy: { kind: 'INTEGRATION', displayName: 'Coffee shop', actor } }]);
});

describe('the contact', () => {
  test('is created with the names and e-mail address of the order, and added to the groups', async () => {
    const tenant = await fixture.tenant();
    const groups = [];
    for (const name of ['Customers', 'Coffee'])
      groups.push(
        (
          await tenant.data(
            'mutation ($name: String!) { createContactGroup(input: { name: $name }) { contactGroup { id } } }',
            { name },
          )
        ).createContactGroup.contactGroup.id,
      );
    const shop = await tenant.shop(mapped(CONFIRM.template, { groupIds: groups }));
    await shop.post(wooOrder());
    const [delivery] = await shop.settled();
    const { contacts } = await tenant.data(CONTACT, { search: '+4915123456789' });
    expect(contacts.nodes).toEqual([
      {
        databaseId: expect.toSatisfy(id => String(id) === delivery?.results[0]?.contactId),
        firstName: 'Ana',
        lastName: 'Müller',
        email: 'ana@example.com',
        groups: [{ name: 'Coffee' }, { name: 'Customers' }],
      },
    ]);
  });

  test('that exists keeps its data: only empty fields are filled', async () => {
    const tenant = await fixture.tenant();
    await tenant.data(
      'mutation { createContact(input: { phone: "+4915123456789", firstName: "Anna-Maria" }) { contact { id } } }',
    );
    const shop = await tenant.shop();
    await shop.post(wooOrder());
    await shop.post(wooOrder({ id: 2, billing: { last_name: 'Other', email: 'other@example.com' } }));
    expect((await shop.settled()).map(({ outcome }) => outcome)).toEqual(['ACTED', 'ACTED']);
    const { contacts } = await tenant.data(CONTACT, { search: '+4915123456789' });
    expect(contacts.nodes).toMatchObject([{ firstName: 'Anna-Maria', lastName: 'Müller', email: 'ana@example.com' }]);
  });

  test('gets no invalid e-mail address or one of another contact; long names are truncated', async () => {
    const tenant = await fixture.tenant();
    await tenant.data(
      'mutation { createContact(input: { phone: "+15550001111", email: "ANA@example.com" }) { contact { id } } }',
    );
    const shop = await tenant.shop();
    await shop.post(wooOrder());
    await shop.post(
      wooOrder({ id: 2, billing: { phone: '0151 7654321', email: 'not an address', first_name: 'x'.repeat(300) } }),
    );
    expect((await shop.settled()).map(({ outcome }) => outcome)).toEqual(['ACTED', 'ACTED']);
    expect((await tenant.data(CONTACT, { search: '+4915123456789' })).contacts.nodes).toMatchObject([
      { email: null, lastName: 'Müller' },
    ]);
    expect((await tenant.data(CONTACT, { search: '+491517654321' })).contacts.nodes).toMatchObject([
      { email: null, firstName: 'x'.repeat(255) },
    ]);
  });

  test('is stored without a template too, and a deleted group is skipped', async () => {
    const tenant = await fixture.tenant({ channel: false });
    const { createContactGroup } = await tenant.data(
      'mutation { createContactGroup(input: { name: "Gone" }) { contactGroup { id } } }',
    );
    const shop = await tenant.shop(mapped(null, { groupIds: [createContactGroup.contactGroup.id] }));
    await tenant.data('mutation ($id: ID!) { deleteContactGroup(input: { id: $id }) { deletedId } }', {
      id: createContactGroup.contactGroup.id,
    });
    await shop.post(wooOrder());
    expect(await shop.settled()).toMatchObject([
      { outcome: 'ACTED', results: [{ messageId: null, contactId: expect.stringMatching(/^\d+$/) }] },
    ]);
  });
});

describe('a refusal is recorded with its reason, and the path', () => {
  const cases: [what: string, payload: object, shop: object, reason: object][] = [
    ['no phone', wooOrder({ billing: { phone: '' } }), {}, { code: 'PHONE_MISSING', path: 'billing.phone' }],
    ['no phone number', wooOrder({ billing: { phone: 'none' } }), {}, { code: 'PHONE_INVALID', path: 'billing.phone' }],
    ['no order id', { ...wooOrder(), id: null }, {}, { code: 'ORDER_ID_MISSING', path: 'id' }],
    [
      'a value that is missing',
      wooOrder({ line_items: [] }),
      {},
      { code: 'PARAMETER_MISSING', field: 'body.1', path: 'line_items[0].name' },
    ],
    [
      'a template that is not approved',
      wooOrder(),
      mapped({ name: 'paused', language: 'en' }),
      { code: 'VALIDATION_ERROR', field: 'name' },
    ],
    [
      'a template that there is none of',
      wooOrder(),
      mapped({ name: 'nothing', language: 'en' }),
      { code: 'VALIDATION_ERROR', field: 'name' },
    ],
    [
      'a value that is too long',
      wooOrder({ number: 'x'.repeat(80) }),
      mapped({ ...CONFIRM.template, header: { text: { path: 'number' } } }),
      {
        code: 'VALIDATION_ERROR',
        field: 'header.text',
        path: 'number',
        message: expect.stringContaining('filled from number'),
      },
    ],
    [
      'a variable too few',
      wooOrder(),
      mapped({ ...CONFIRM.template, body: [{ path: 'total' }] }),
      { code: 'VALIDATION_ERROR', field: 'body.1' },
    ],
  ];
  test('for a payload without required values, or a template that cannot be sent', async () => {
    const tenant = await fixture.tenant();
    for (const [what, payload, input, reason] of cases) {
      const shop = await tenant.shop(input);
      await shop.post(payload);
      const [delivery] = await shop.settled();
      expect(delivery, what).toMatchObject({
        outcome: 'REFUSED',
        attempts: 1,
        results: [{ outcome: 'REFUSED', reason }],
      });
    }
    expect(await tenant.sent()).toEqual([]);
  });

  test('for an opted-out contact, an exceeded plan, a plan without integrations, a missing channel', async () => {
    const tenant = await fixture.tenant();
    await tenant.data('mutation { createContact(input: { phone: "+4915123456789" }) { contact { databaseId } } }');
    const { contacts } = await tenant.data(CONTACT, { search: '+4915123456789' });
    await tenant.data(
      'mutation ($id: ID!) { updateContact(input: { id: $id, isOptedOut: true }) { contact { id } } }',
      {
        id: String(contacts.nodes[0].databaseId),
      },
    );
    const shop = await tenant.shop();
    await shop.post(wooOrder());
    await fixture.gateway.database.query('update tenant_usage set contacts_maximum = contacts where tenant_id = $1', [
      tenant.id,
    ]);
    await shop.post(wooOrder({ id: 2, billing: { phone: '0151 7654321' } }));
    await shop.settled();
    await fixture.gateway.database.query("update channels set status = 'paused' where tenant_id = $1", [tenant.id]);
    await fixture.gateway.database.query('update contacts set opted_out_at = null where tenant_id = $1', [tenant.id]);
    await shop.post(wooOrder({ id: 3 }));
    await shop.settled();
    await fixture.gateway.database.query(
      "with p as (insert into plans (name, features, calls_per_minute) select 'bare', array_remove(features, 'integrations'), calls_per_minute from plans where name = 'unlimited' returning id) update tenants set plan_id = p.id from p where tenant_id = $1",
      [tenant.id],
    );
    await shop.post(wooOrder({ id: 4 }));
    const deliveries = await shop.settled();
    expect(deliveries.map(({ reason, results }) => reason?.code ?? results[0]?.reason?.code)).toEqual([
      'CONTACT_OPTED_OUT',
      'FEATURE_LIMIT_EXCEEDED',
      'MESSAGING_NOT_CONFIGURED',
      'FEATURE_NOT_AVAILABLE',
    ]);
  });

  test('for bytes that are not JSON, and the next order is not delayed', async () => {
    const tenant = await fixture.tenant();
    const shop = await tenant.shop();
    for (const body of ['{"id":', 'null', '['.repeat(100_000), '"text"', '']) await shop.post(body);
    await shop.post(wooOrder());
    const deliveries = await shop.settled();
    expect(deliveries.map(({ reason }) => reason?.code)).toEqual([
      ...Array.from({ length: 5 }, () => 'PAYLOAD_UNREADABLE'),
      undefined,
    ]);
    expect(deliveries.at(-1)?.outcome).toBe('ACTED');
  });

  test('and a later, corrected payload of the order is processed', async () => {
    const tenant = await fixture.tenant();
    const shop = await tenant.shop();
    await shop.post(wooOrder({ billing: { phone: 'none' } }));
    await shop.post(wooOrder());
    await shop.post(wooOrder({ customer_note: 'again' }));
    expect((await shop.settled()).map(({ outcome }) => outcome)).toEqual(['REFUSED', 'ACTED', 'DUPLICATE']);
    expect(await tenant.sent()).toHaveLength(1);
    expect(await tenant.events()).toHaveLength(1);
  });
});

test('a refused mapping does not affect another one', async () => {
  const tenant = await fixture.tenant();
  const shop = await tenant.shop({
    mappings: [
      { name: 'Bad', template: { name: 'paused', language: 'en' } },
      { name: 'Good', template: { name: 'plain', language: 'en' } },
      { name: 'Off', isEnabled: false, template: { name: 'plain', language: 'en' } },
    ],
  });
  await shop.post(wooOrder());
  expect(await shop.settled()).toMatchObject([
    {
      outcome: 'REFUSED',
      results: [
        { mappingName: 'Bad', outcome: 'REFUSED' },
        { mappingName: 'Good', outcome: 'ACTED' },
      ],
    },
  ]);
  expect((await tenant.sent()).map(({ body }) => body)).toEqual(['Thank you.']);
});

test('headers with files and locations are filled', async () => {
  const tenant = await fixture.tenant();
  const location = { latitude: 50.94, longitude: 6.96, name: 'Our shop' };
  const shop = await tenant.shop({
    mappings: [
      { name: 'Place', template: { name: 'place', language: 'en', header: { location } } },
      {
        name: 'Invoice',
        template: {
          name: 'invoice',
          language: 'en',
          header: { document: { path: 'invoice.url' }, filename: { path: 'number' } },
        },
      },
    ],
  });
  await shop.post(
    wooOrder({ billing: { phone: '+4915177700099' }, invoice: { url: 'https://shop.example/i/727.pdf' } }),
  );
  expect(await shop.settled()).toMatchObject([{ outcome: 'ACTED' }]);
  await eventually(() => {
    const headers = fixture.gateway.emulator
      .sent({ to: '+4915177700099' })
      .messages.map(
        ({ content }) => (content as { components: { parameters: unknown[] }[] }).components[0]?.parameters[0],
      );
    expect(headers).toHaveLength(2);
    expect(headers).toContainEqual({
      type: 'document',
      document: { link: 'https://shop.example/i/727.pdf', filename: '727' },
    });
    expect(headers).toContainEqual({
      type: 'location',
      location: { latitude: '50.94', longitude: '6.96', name: 'Our shop' },
    });
  });
});

test('processed payloads are deleted after 14 days, and a repeated order is still recognised', async () => {
  const tenant = await fixture.tenant();
  const shop = await tenant.shop(mapped(CONFIRM.template));
  await shop.post(wooOrder());
  await shop.settled();
  const { database } = fixture.gateway;
  await database.query(
    `update integration_deliveries set received_at = received_at - interval '15 days' where tenant_id = $1`,
    [tenant.id],
  );
  await cleanDeliveries(fixture.gateway.gateway.resources);
  expect(await database.query('select id from integration_deliveries where tenant_id = $1', [tenant.id])).toEqual([]);
  await shop.post(wooOrder());
  const [again] = await shop.settled();
  expect(again?.outcome).toBe('DUPLICATE');
});
