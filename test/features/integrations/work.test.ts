import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { cleanDeliveries } from '../../../src/features/integrations/clean.ts';
import { DAY, HOUR, MINUTE } from '../../../src/platform/clock.ts';
import { eventually } from '../../support/gateway.ts';
import { wooOrder } from './fixtures.ts';
import { CONFIRM, type Ground, startGround } from './ground.ts';

let ground: Ground;
beforeAll(async () => {
  ground = await startGround();
});
beforeEach(() => ground.gateway.emulator.resetFaults());
afterAll(() => ground.gateway.stop());

const mapped = (template: object | null, others: object = {}) => ({
  mappings: [{ name: 'Mapping', template, ...others }],
});
const CONTACT =
  'query ($search: String!) { contacts(search: $search) { nodes { databaseId firstName lastName email groups { name } } } }';

describe('the contact', () => {
  test('is made when new, with the names and the e-mail address of the order, and put into the groups', async () => {
    const tenant = await ground.tenant();
    const groups = [];
    for (const name of ['Customers', 'Coffee'])
      groups.push(
        (await tenant.data('mutation ($name: String!) { createGroup(input: { name: $name }) { id } }', { name }))
          .createGroup.id,
      );
    const shop = await tenant.shop(mapped(CONFIRM.template, { groupIds: groups }));
    await shop.post(wooOrder());
    const [delivery] = await shop.settled();
    const { contacts } = await tenant.data(CONTACT, { search: '+4915123456789' });
    expect(contacts.nodes).toEqual([
      {
        databaseId: delivery?.results[0]?.contactId,
        firstName: 'Ana',
        lastName: 'Müller',
        email: 'ana@example.com',
        groups: [{ name: 'Coffee' }, { name: 'Customers' }],
      },
    ]);
  });

  test('who is known keeps what is known: only what is empty is filled', async () => {
    const tenant = await ground.tenant();
    await tenant.data('mutation { createContact(input: { phone: "+4915123456789", firstName: "Anna-Maria" }) { id } }');
    const shop = await tenant.shop();
    await shop.post(wooOrder());
    await shop.post(wooOrder({ id: 2, billing: { last_name: 'Other', email: 'other@example.com' } }));
    expect((await shop.settled()).map(({ outcome }) => outcome)).toEqual(['ACTED', 'ACTED']);
    const { contacts } = await tenant.data(CONTACT, { search: '+4915123456789' });
    expect(contacts.nodes).toMatchObject([{ firstName: 'Anna-Maria', lastName: 'Müller', email: 'ana@example.com' }]);
  });

  test('gets no e-mail address that is another contact’s, or none at all; names that are too long are cut', async () => {
    const tenant = await ground.tenant();
    await tenant.data('mutation { createContact(input: { phone: "+15550001111", email: "ANA@example.com" }) { id } }');
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

  test('is kept without a template as well, and a group that is gone is passed over', async () => {
    const tenant = await ground.tenant({ channel: false });
    const { createGroup } = await tenant.data('mutation { createGroup(input: { name: "Gone" }) { id } }');
    const shop = await tenant.shop(mapped(null, { groupIds: [createGroup.id] }));
    await tenant.data('mutation ($id: ID!) { deleteGroup(id: $id) { id } }', { id: createGroup.id });
    await shop.post(wooOrder());
    expect(await shop.settled()).toMatchObject([
      { outcome: 'ACTED', results: [{ messageId: null, contactId: expect.any(Number) }] },
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
  test('of a payload that lacks what the mapping needs, or of a template that cannot be sent', async () => {
    const tenant = await ground.tenant();
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

  test('of a contact who opted out, of a plan without room, of a plan without integrations, of no channel', async () => {
    const tenant = await ground.tenant();
    await tenant.data('mutation { createContact(input: { phone: "+4915123456789" }) { databaseId } }');
    const { contacts } = await tenant.data(CONTACT, { search: '+4915123456789' });
    await tenant.data('mutation ($id: ID!) { updateContact(id: $id, input: { isOptedOut: true }) { id } }', {
      id: String(contacts.nodes[0].databaseId),
    });
    const shop = await tenant.shop();
    await shop.post(wooOrder());
    await ground.gateway.database.query('update tenant_usage set contacts_maximum = contacts where tenant_id = $1', [
      tenant.id,
    ]);
    await shop.post(wooOrder({ id: 2, billing: { phone: '0151 7654321' } }));
    await shop.settled();
    await ground.gateway.database.query("update channels set status = 'paused' where tenant_id = $1", [tenant.id]);
    await ground.gateway.database.query('update contacts set opted_out_at = null where tenant_id = $1', [tenant.id]);
    await shop.post(wooOrder({ id: 3 }));
    await shop.settled();
    await ground.gateway.database.query(
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

  test('of bytes that are no JSON, and the next order is not held up', async () => {
    const tenant = await ground.tenant();
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

  test('and a later payload of the order, put right, does what the first could not', async () => {
    const tenant = await ground.tenant();
    const shop = await tenant.shop();
    await shop.post(wooOrder({ billing: { phone: 'none' } }));
    await shop.post(wooOrder());
    await shop.post(wooOrder({ customer_note: 'again' }));
    expect((await shop.settled()).map(({ outcome }) => outcome)).toEqual(['REFUSED', 'ACTED', 'DUPLICATE']);
    expect(await tenant.sent()).toHaveLength(1);
    expect(await tenant.events()).toHaveLength(1);
  });
});

describe('a fault that passes', () => {
  /** Makes the database refuse a statement until it is mended. */
  const breakTable = async (table: string, event = 'insert') => {
    const { query } = ground.gateway.database;
    await query(
      `create or replace function refuse() returns trigger language plpgsql as $$ begin raise exception 'broken'; end $$`,
    );
    await query(`create trigger refuse before ${event} on ${table} for each row execute function refuse()`);
    return () => query(`drop trigger refuse on ${table}`);
  };

  test('is tried again later, and lets the others pass meanwhile', async () => {
    const tenant = await ground.tenant();
    const shop = await tenant.shop();
    const mend = await breakTable('integration_acts');
    await shop.post(wooOrder());
    const waiting = () =>
      tenant.data(
        '{ integrationDeliveries { nodes { outcome attempts nextAttemptAt results { outcome reason { code } } } } }',
      );
    await eventually(async () =>
      expect((await waiting()).integrationDeliveries.nodes).toMatchObject([
        { outcome: 'WAITING', attempts: 1, results: [{ outcome: 'FAILED', reason: { code: 'FAULT' } }] },
      ]),
    );
    await mend();
    await shop.post(wooOrder({ id: 2 }));
    await eventually(async () => expect(await tenant.sent()).toHaveLength(1));
    ground.pass(5_000);
    ground.gateway.gateway.resources.jobs.wake('integrations', `${tenant.id}:${shop.databaseId}`);
    expect((await shop.settled()).map(({ outcome, attempts }) => [outcome, attempts])).toEqual([
      ['ACTED', 2],
      ['ACTED', 1],
    ]);
    expect(await tenant.sent()).toHaveLength(2);
  });

  test('after the template was sent does not send it again, and the outcome is told right', async () => {
    const tenant = await ground.tenant();
    const shop = await tenant.shop();
    const mend = await breakTable('integration_acts', 'update');
    await shop.post(wooOrder());
    await eventually(async () => expect(await tenant.sent()).toHaveLength(1));
    await eventually(async () =>
      expect(
        (await tenant.data('{ integrationDeliveries { nodes { attempts results { outcome } } } }'))
          .integrationDeliveries.nodes,
      ).toEqual([{ attempts: 1, results: [{ outcome: 'FAILED' }] }]),
    );
    await mend();
    // Another payload of the order and status comes first, with other words: it finds the message of the first.
    await shop.post(wooOrder({ billing: { first_name: 'Anna' } }));
    ground.pass(MINUTE);
    ground.gateway.gateway.resources.jobs.wake('integrations', `${tenant.id}:${shop.databaseId}`);
    const deliveries = await shop.settled();
    expect(await tenant.sent()).toHaveLength(1);
    expect(new Set(deliveries.map(({ results }) => results[0]?.messageId)).size).toBe(1);
  });

  test('that does not pass is given up after four hours, and can be replayed', async () => {
    const tenant = await ground.tenant();
    const shop = await tenant.shop();
    const mend = await breakTable('integration_acts');
    await shop.post(wooOrder());
    const attempts = async () =>
      (await tenant.data('{ integrationDeliveries { nodes { databaseId outcome attempts nextAttemptAt } } }'))
        .integrationDeliveries.nodes[0];
    await eventually(async () => expect((await attempts()).attempts).toBe(1));
    // As it stands after the pauses before the last attempt: 5 s, 30 s, 2, 10 and 30 min, 1 h.
    await eventually(async () => {
      const due =
        'update integration_deliveries set attempts = 6 where tenant_id = $1 and claim is null returning due_at';
      expect(await ground.gateway.database.query(due, [tenant.id])).toHaveLength(1);
    });
    for (const [attempt, pauseMs] of [
      [7, 5_000],
      [8, 2 * HOUR],
    ] as const) {
      ground.pass(pauseMs);
      ground.gateway.gateway.resources.jobs.wake('integrations', `${tenant.id}:${shop.databaseId}`);
      await eventually(async () => expect((await attempts()).attempts).toBe(attempt));
      // Let go of: given up, or to be tried again in two hours.
      await eventually(async () => {
        const { outcome, nextAttemptAt } = await attempts();
        const inAnHour = ground.gateway.gateway.resources.clock.now() + HOUR;
        expect(outcome === 'FAILED' || Date.parse(nextAttemptAt) > inAnHour).toBe(true);
      });
    }
    expect(await attempts()).toMatchObject({ outcome: 'FAILED', attempts: 8 });
    await mend();
    await tenant.data('mutation ($id: ID!) { replayIntegrationDelivery(id: $id) { outcome } }', {
      id: (await attempts()).databaseId,
    });
    expect((await shop.settled()).map(({ outcome }) => outcome)).toEqual(['ACTED']);
    expect(await tenant.sent()).toHaveLength(1);
  });
});

describe('who dies', () => {
  test('with a payload in hand leaves it to be taken over, and what was done stays done', async () => {
    const tenant = await ground.tenant();
    const shop = await tenant.shop();
    await shop.post(wooOrder());
    await shop.settled();
    // As if the process had died between the end of the act and that of the delivery.
    await ground.gateway.database.query(
      "update integration_deliveries set outcome = 'waiting', claim = gen_random_uuid(), due_at = $2::timestamptz, results = '[]' where tenant_id = $1",
      [tenant.id, new Date(Date.now() - 1_000).toISOString()],
    );
    ground.gateway.gateway.resources.jobs.wake('integrations', `${tenant.id}:${shop.databaseId}`);
    expect(await shop.settled()).toMatchObject([{ outcome: 'ACTED' }]);
    expect(await tenant.sent()).toHaveLength(1);
    expect(await tenant.events()).toHaveLength(1);
  });

  test('between claim and send leaves an act that is done by whoever comes; a day later nobody guesses', async () => {
    const tenant = await ground.tenant();
    const shop = await tenant.shop();
    const claim = (order: string, ageMs: number) =>
      ground.gateway.database.query(
        "insert into integration_acts (tenant_id, integration_id, mapping_id, order_id, status, state, delivery_id, claimed_at) values ($1, $2, $3, $4, 'processing', 'claimed', gen_random_uuid(), $5)",
        [
          tenant.id,
          shop.databaseId,
          shop.mappings[0]?.databaseId,
          order,
          new Date(ground.gateway.gateway.resources.clock.now() - ageMs).toISOString(),
        ],
      );
    await claim('1', HOUR);
    await claim('2', DAY);
    for (const id of [1, 2]) await shop.post(wooOrder({ id }));
    const [first, second] = await shop.settled();
    expect(first).toMatchObject({ outcome: 'ACTED' });
    expect(second).toMatchObject({ outcome: 'REFUSED', results: [{ reason: { code: 'OUTCOME_UNKNOWN' } }] });
    expect(await tenant.sent()).toHaveLength(1);
    const force = 'mutation ($id: ID!) { replayIntegrationDelivery(id: $id, force: true) { outcome } }';
    await tenant.data(force, { id: second?.databaseId });
    expect((await shop.settled()).map(({ outcome }) => outcome)).toEqual(['ACTED', 'ACTED']);
    expect(await tenant.sent()).toHaveLength(2);
  });

  test('over the same payload again and again is not let near it for ever', async () => {
    const tenant = await ground.tenant();
    const shop = await tenant.shop();
    await shop.post(wooOrder());
    await shop.settled();
    await ground.gateway.database.query(
      "update integration_deliveries set outcome = 'waiting', due_at = $2::timestamptz, results = '[]', attempts = 8 where tenant_id = $1",
      [tenant.id, new Date(Date.now() - 1_000).toISOString()],
    );
    ground.gateway.gateway.resources.jobs.wake('integrations', `${tenant.id}:${shop.databaseId}`);
    expect(await shop.settled()).toMatchObject([{ outcome: 'FAILED', attempts: 9 }]);
  });
});

test('one mapping that is refused does not keep another from its part', async () => {
  const tenant = await ground.tenant();
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

test('headers that are files and places are filled as well', async () => {
  const tenant = await ground.tenant();
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
    const headers = ground.gateway.emulator
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

test('payloads that are done with go after 14 days, and an order that comes again then is still known', async () => {
  const tenant = await ground.tenant();
  const shop = await tenant.shop(mapped(CONFIRM.template));
  await shop.post(wooOrder());
  await shop.settled();
  const { database } = ground.gateway;
  await database.query(
    `update integration_deliveries set received_at = received_at - interval '15 days' where tenant_id = $1`,
    [tenant.id],
  );
  await cleanDeliveries(ground.gateway.gateway.resources);
  expect(await database.query('select id from integration_deliveries where tenant_id = $1', [tenant.id])).toEqual([]);
  await shop.post(wooOrder());
  const [again] = await shop.settled();
  expect(again?.outcome).toBe('DUPLICATE');
});
