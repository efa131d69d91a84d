import { randomBytes } from 'node:crypto';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { listUnhandled } from '../../../src/features/inbox/changes.sql.ts';
import { reprocess } from '../../../src/features/inbox/reprocess.ts';
import { moveStatistics } from '../../../src/features/messages/housekeeping.ts';
import { sign } from '../../../src/network/cloud-api/signature.ts';
import { eventually, startGateway, type TestGateway, type TestTenant } from '../../support/gateway.ts';

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startGateway();
});
afterAll(() => gateway.stop());

async function post(body: string | Buffer, to = gateway): Promise<number> {
  const bytes = Buffer.from(body);
  const headers = { 'content-type': 'application/json', 'x-hub-signature-256': sign(bytes, 'test-app-secret') };
  const answer = await fetch(`${to.url}/network/cloud-api/webhook`, {
    method: 'POST',
    headers,
    body: new Uint8Array(bytes),
  });
  await answer.text();
  return answer.status;
}

const seconds = (shift = 0): string => String(Math.floor(Date.now() / 1_000) + shift);
const text = (from: string, body: string, more: object = {}) => ({
  from,
  id: `wamid.${randomBytes(9).toString('base64url')}`,
  timestamp: seconds(),
  type: 'text',
  text: { body },
  ...more,
});
const envelope = (tenant: TestTenant, value: object): string =>
  JSON.stringify({
    object: 'whatsapp_business_account',
    entry: [
      {
        id: tenant.wabaId,
        changes: [{ field: 'messages', value: { metadata: { phone_number_id: tenant.phoneNumberId }, ...value } }],
      },
    ],
  });

interface Stored extends Record<string, unknown> {
  readonly body: string | null;
  readonly content: Record<string, unknown>;
  readonly contact_id: string;
}
const messagesOf = (tenant: TestTenant) =>
  gateway.database.query<Stored>(
    `select * from messages m join message_states s on s.tenant_id = m.tenant_id and s.message_id = m.id where m.tenant_id = $1 order by m.created_at, m.id`,
    [tenant.id],
  );
const contactsOf = (tenant: TestTenant) =>
  gateway.database.query(
    `select c.*, (select i.value from contact_identities i where i.contact_id = c.id and i.kind = 'wa_id' and i.ended_at is null) as wa_id, (select i.value from contact_identities i where i.contact_id = c.id and i.kind = 'user_id' and i.ended_at is null) as user_id from contacts c where tenant_id = $1 order by id`,
    [tenant.id],
  );
const waiting = async (tenant: TestTenant) =>
  gateway.database.query('select 1 from waiting_webhooks where tenant_id = $1', [tenant.id]);

describe('characters that PostgreSQL cannot store', () => {
  test('U+0000 and lone surrogates are removed anywhere, and the message is kept', async () => {
    const tenant = await gateway.addTenant();
    const profile = { name: `Bo\u0000 ${'x'.repeat(250)}🛵🛵 and more` };
    const body = envelope(tenant, {
      contacts: [{ wa_id: '14155550101', profile }],
      messages: [
        text('14155550101', 'a\u0000b \ud83d c'),
        { ...text('14155550101', ''), type: 'novelty', novelty: { odd: '\udc00\u0000' } },
        text('14155550101', 'neighbour'),
      ],
    });
    expect(await post(body)).toBe(200);
    await eventually(async () =>
      expect((await messagesOf(tenant)).map(row => row.body).sort()).toEqual(['ab \ufffd c', 'neighbour', null].sort()),
    );
    expect((await messagesOf(tenant)).find(row => row['type'] === 'novelty')?.content).toMatchObject({ odd: '\ufffd' });
    expect((await contactsOf(tenant))[0]?.['lastname']).toBe(`${'x'.repeat(250)}🛵🛵`);
    expect(await gateway.database.query('select 1 from inbound_webhooks where error is not null')).toEqual([]);
  });

  test('the answers of a Flow, which are JSON within a text, are kept without them', async () => {
    const tenant = await gateway.addTenant();
    const answered = (response_json: string) => ({
      ...text('14155550102', ''),
      type: 'interactive',
      interactive: { type: 'nfm_reply', nfm_reply: { name: 'flow', body: 'Sent', response_json } },
    });
    const messages = [
      answered(String.raw`{"name":"cut \ud83d","note":"a\u0000b"}`),
      answered(String.raw`{"na\u0000me \udc4d":["Zo\u00eb"]}`),
    ];
    expect(await post(envelope(tenant, { contacts: [], messages }))).toBe(200);
    await eventually(async () =>
      expect((await messagesOf(tenant)).map(({ content }) => content)).toMatchObject([
        { nfm_reply: { answers: { name: 'cut \ufffd', note: 'ab' } } },
        { nfm_reply: { answers: { 'name \ufffd': ['Zoë'] } } },
      ]),
    );
  });

  test('they are removed from the names of fields, too', async () => {
    const tenant = await gateway.addTenant();
    const message = {
      ...text('14155550103', ''),
      text: undefined,
      type: 'novelty',
      novelty: { 'od\u0000d \ud83d': 1 },
    };
    expect(await post(envelope(tenant, { contacts: [], messages: [message] }))).toBe(200);
    await eventually(async () =>
      expect((await messagesOf(tenant)).map(({ content }) => content)).toEqual([{ 'odd \ufffd': 1 }]),
    );
  });
});

describe('identities', () => {
  test('a contact known by user id gets the number that the network shows later, with an event', async () => {
    const tenant = await gateway.addTenant();
    const person = { user_id: 'US.4711', profile: { name: 'Zoë' } };
    await post(
      envelope(tenant, {
        contacts: [person],
        messages: [{ ...text('', 'hello', { from_user_id: 'US.4711' }), from: undefined }],
      }),
    );
    await eventually(async () =>
      expect(await contactsOf(tenant)).toMatchObject([{ phone: null, user_id: 'US.4711', firstname: 'Zoë' }]),
    );
    await post(
      envelope(tenant, {
        contacts: [{ ...person, wa_id: '14155550111' }],
        messages: [text('14155550111', 'again', { from_user_id: 'US.4711' })],
      }),
    );
    await eventually(async () =>
      expect(await contactsOf(tenant)).toMatchObject([
        { phone: '+14155550111', phone_key: '14155550111', wa_id: '14155550111' },
      ]),
    );
    const events = await gateway.database.query(
      `select payload->'previous' as previous, payload->'contact'->>'phone' as phone from events where tenant_id = $1 and type = 'contact.updated'`,
      [tenant.id],
    );
    expect(events).toEqual([{ previous: { phone: null }, phone: '+14155550111' }]);
    // And is found by it from now on.
    const { data } = await gateway.graphql(
      'mutation { sendMessage(input: { to: { phone: "+14155550111" }, content: { text: { body: "Hi" } } }) { message { contactId } userErrors { code message path } } }',
      {},
      tenant.token,
    );
    expect(String(data.sendMessage.message.contactId)).toBe(String((await contactsOf(tenant))[0]?.['id']));
  });

  test('a user id with two numbers, and a number with two user ids, are accepted', async () => {
    const tenant = await gateway.addTenant();
    await gateway.graphql(
      'mutation { a: createContact(input: { phone: "+14155550121" }) { contact { id } } b: createContact(input: { phone: "+14155550122" }) { contact { id } } }',
      {},
      tenant.token,
    );
    const both = [
      text('14155550121', 'one', { from_user_id: 'US.same' }),
      text('14155550122', 'two', { from_user_id: 'US.same' }),
    ];
    await post(envelope(tenant, { contacts: [], messages: both }));
    await eventually(async () => expect(await messagesOf(tenant)).toHaveLength(2));
    // A user id known from before, then shown with the number of another contact.
    await post(
      envelope(tenant, {
        contacts: [],
        messages: [{ ...text('', 'three', { from_user_id: 'US.other' }), from: undefined }],
      }),
    );
    await post(
      envelope(tenant, { contacts: [], messages: [text('14155550122', 'four', { from_user_id: 'US.other' })] }),
    );
    await eventually(async () => expect(await messagesOf(tenant)).toHaveLength(4));
    const contacts = await contactsOf(tenant);
    // US.same was first at one number, then at the other, which US.other has now.
    expect(contacts.map(contact => contact['phone'])).toEqual([null, '+14155550122']);
    expect(await gateway.database.query('select 1 from inbound_webhooks where error is not null')).toEqual([]);
  });
});

describe('times', () => {
  test('of two opt-out keywords in one second the later one counts', async () => {
    const tenant = await gateway.addTenant();
    for (let round = 0; round < 6; round += 1) {
      const from = `1415555013${round}`;
      await post(envelope(tenant, { contacts: [], messages: [text(from, 'STOP'), text(from, 'START')] }));
    }
    await eventually(async () => expect(await messagesOf(tenant)).toHaveLength(12));
    await eventually(async () => expect(await waiting(tenant)).toHaveLength(0));
    expect((await contactsOf(tenant)).filter(contact => contact['opted_out_at'] !== null)).toEqual([]);
  });

  test('a network timestamp in the future opens no window beyond 24 hours, and a repeated message is stored once', async () => {
    const tenant = await gateway.addTenant();
    const ahead = { ...text('14155550140', 'from tomorrow'), timestamp: seconds(86_400) };
    await post(envelope(tenant, { contacts: [], messages: [ahead] }));
    await post(envelope(tenant, { messages: [ahead], contacts: [{ wa_id: '14155550140' }] }));
    await eventually(async () => expect(await messagesOf(tenant)).toHaveLength(1));
    await eventually(async () => expect(await waiting(tenant)).toHaveLength(0));
    expect(await messagesOf(tenant)).toHaveLength(1);
    const [window] = await gateway.database.query<{ hours: number }>(
      'select extract(epoch from window_expires_at - now())::float8 / 3600 as hours from conversations where tenant_id = $1',
      [tenant.id],
    );
    expect(window?.hours).toBeLessThanOrEqual(24);
  });
});

describe('sizes', () => {
  test('3 MB are accepted, more than 4 MB are rejected', async () => {
    const tenant = await gateway.addTenant();
    const large = (bytes: number) =>
      envelope(tenant, { contacts: [], messages: [text('14155550150', 'large', { padding: 'x'.repeat(bytes) })] });
    expect(await post(large(3 * 1024 * 1024))).toBe(200);
    expect(await post(large(4 * 1024 * 1024 + 1))).toBe(413);
    await eventually(async () => expect((await messagesOf(tenant)).map(row => row.body)).toEqual(['large']));
  });

  test('correctly signed bodies without a valid structure are accepted, and do not affect other webhooks', async () => {
    const tenant = await gateway.addTenant();
    for (const body of [
      '',
      '{',
      'null',
      '[]',
      '"text"',
      '{}',
      '{"entry":7}',
      '{"entry":[null,7,{"changes":null}]}',
      Buffer.of(0xff, 0xfe, 0x00),
    ]) {
      expect(await post(body)).toBe(200);
    }
    const odd = [
      { field: 'messages' },
      { field: 'messages', value: null },
      { field: 'account_update', value: { event: 'X' } },
      null,
      7,
      {
        field: 'messages',
        value: {
          metadata: { phone_number_id: tenant.phoneNumberId },
          messages: [null, 7, {}, { id: 'x' }, { id: 'x', timestamp: 'soon' }],
        },
      },
    ];
    expect(await post(JSON.stringify({ entry: [{ id: tenant.wabaId, changes: odd }] }))).toBe(200);
    await eventually(async () => expect(await waiting(tenant)).toHaveLength(0));
    expect(await messagesOf(tenant)).toEqual([]);
  });

  test('a username longer than an index takes is left out, and the message is kept', async () => {
    const tenant = await gateway.addTenant();
    const contacts = [{ wa_id: '14155550101', profile: { name: 'Bo', username: randomBytes(6_000).toString('hex') } }];
    expect(await post(envelope(tenant, { contacts, messages: [text('14155550101', 'hello')] }))).toBe(200);
    await eventually(async () => expect(await waiting(tenant)).toEqual([]));
    expect((await messagesOf(tenant)).map(({ body }) => body)).toEqual(['hello']);
  });

  test('a category of a price longer than an index takes does not hold up the statistics of all tenants', async () => {
    const tenant = await gateway.addTenant();
    const input = { to: { phone: '+14155550102' }, content: { text: { body: 'Hi' } } };
    await gateway.mutate('sendMessage', input, 'message { databaseId }', tenant.token);
    const [sent] = await eventually(async () => {
      const rows = await gateway.database.query<{ wamid: string }>(
        'select wamid from message_states where tenant_id = $1 and wamid is not null',
        [tenant.id],
      );
      expect(rows).toHaveLength(1);
      return rows;
    });
    const word = randomBytes(6_000).toString('hex');
    const pricing = { billable: true, pricing_model: 'PMP', category: word, type: word };
    const status = { id: sent?.wamid, status: 'read', timestamp: seconds(), recipient_id: '14155550102', pricing };
    expect(await post(envelope(tenant, { statuses: [status] }))).toBe(200);
    await eventually(async () => expect(await waiting(tenant)).toEqual([]));
    // The process's own housekeeping may hold rows that ours skips.
    await eventually(async () => {
      await moveStatistics(gateway.gateway.resources);
      const counted = await gateway.database.query(
        `select sum(messages)::int as count from message_statistics where tenant_id = $1 and status = 'read'`,
        [tenant.id],
      );
      expect(counted).toEqual([{ count: 1 }]);
    });
  });

  test('a body nested too deeply to be read is stored as unrouted and not retried, whatever number it names', async () => {
    const tenant = await gateway.addTenant();
    const unrouted = async () =>
      (await gateway.database.query<{ count: number }>('select count(*)::int as count from unrouted_changes'))[0]
        ?.count;
    const before = (await unrouted()) ?? 0;
    // JSON.stringify cannot write it either.
    const deep = `${'['.repeat(10_000)}1${']'.repeat(10_000)}`;
    const body = envelope(tenant, { messages: [{ ...text('14155550101', 'x'), novelty: 'DEEP' }] });
    expect(await post(body.replace('"DEEP"', deep))).toBe(200);
    expect(await post(body.replace('"DEEP"', deep).replace(tenant.phoneNumberId, '777'))).toBe(200);
    expect(await waiting(tenant)).toEqual([]);
    expect(await unrouted()).toBe(before + 2);
    const { resources } = gateway.gateway;
    const listed = await listUnhandled(resources.db.read, { tenantId: null, field: '', limit: 2 });
    expect(JSON.parse(JSON.stringify(listed)).map(({ raw }: { raw: unknown }) => typeof raw)).toEqual([
      'string',
      'string',
    ]);
    expect(await reprocess(resources, { isUpgrade: false })).toMatchObject({ routed: 0 });
  });

  test('a hundred failing webhooks do not block the next one', async () => {
    const tenant = await gateway.addTenant();
    await gateway.database.query(
      `with w as (
         insert into inbound_webhooks (tenant_id, digest, id, body)
         select $1, int4send(n), ('00000000-0000-7000-8000-' || lpad(n::text, 12, '0'))::uuid, '{not json' from generate_series(1, 100) n
         returning tenant_id, id
       ) insert into waiting_webhooks (tenant_id, id) select * from w`,
      [tenant.id],
    );
    await post(envelope(tenant, { contacts: [], messages: [text('14155550160', 'behind them')] }));
    await eventually(async () => expect((await messagesOf(tenant)).map(row => row.body)).toEqual(['behind them']));
  });

  test('each webhook that is stored wakes the lane of its tenant, also in another process, so that none waits for the sweep', async () => {
    const receiving = await startGateway({ role: 'gateway' });
    const other = new pg.Client({ connectionString: receiving.database.url });
    try {
      await other.connect();
      const woken: string[] = [];
      other.on('notification', ({ payload }) => woken.push(...(payload ?? '').split(' ')));
      await other.query('listen parley');
      for (const wamid of ['wamid.first', 'wamid.of-remembered-owners']) {
        woken.length = 0;
        const body = envelope(receiving.tenant, {
          contacts: [],
          messages: [text('14155550171', 'hello', { id: wamid })],
        });
        expect(await post(body, receiving)).toBe(200);
        await eventually(() => expect(woken).toContain(`inbox:${receiving.tenant.id}`));
      }
    } finally {
      await other.end();
      await receiving.stop();
    }
  });

  test('a webhook whose wake-up was lost is found by the sweep', async () => {
    const tenant = await gateway.addTenant();
    const body = envelope(tenant, { contacts: [], messages: [text('14155550170', 'nobody was told')] });
    await gateway.database.query(
      `with w as (
         insert into inbound_webhooks (tenant_id, digest, id, body) values ($1, '\\x01', gen_random_uuid(), $2) returning tenant_id, id
       ) insert into waiting_webhooks (tenant_id, id) select * from w`,
      [tenant.id, Buffer.from(body)],
    );
    await eventually(async () => expect((await messagesOf(tenant)).map(row => row.body)).toEqual(['nobody was told']));
  });
});
