import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { sign } from '../../../src/network/cloud-api/signature.ts';
import { dataOf } from '../../support/answers.ts';
import { eventually, startGateway, type TestGateway, type TestTenant } from '../../support/gateway.ts';

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startGateway();
});
afterAll(() => gateway.stop());

const SECRET = 'test-app-secret';
const hook = () => `${gateway.url}/network/cloud-api/webhook`;
const post = (body: string, signature = sign(Buffer.from(body), SECRET)) =>
  fetch(hook(), {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-hub-signature-256': signature },
    body,
  });
const envelope = (tenant: TestTenant, value: object) =>
  JSON.stringify({
    object: 'whatsapp_business_account',
    entry: [
      {
        id: tenant.wabaId,
        changes: [
          {
            field: 'messages',
            value: {
              messaging_product: 'whatsapp',
              metadata: { display_phone_number: '15550780000', phone_number_id: tenant.phoneNumberId },
              ...value,
            },
          },
        ],
      },
    ],
  });
const text = (from: string, body: string, id = `wamid.${randomBytes(9).toString('base64url')}`) => ({
  from,
  id,
  timestamp: String(Math.floor(Date.now() / 1_000)),
  type: 'text',
  text: { body },
});
const inbound = (tenant: TestTenant, ...messages: object[]) => envelope(tenant, { contacts: [], messages });
const messagesOf = async (tenant: TestTenant) =>
  gateway.database.query<{ type: string; body: string | null; contact_id: string; wamid: string }>(
    `select type, body, contact_id, wamid from messages m join message_states s on s.tenant_id = m.tenant_id and s.message_id = m.id
     where m.tenant_id = $1 and direction = 'inbound' order by created_at, id`,
    [tenant.id],
  );

test('the challenge is returned for the verify token of a channel, and rejected for others', async () => {
  const ask = (token: string) =>
    fetch(`${hook()}?hub.mode=subscribe&hub.verify_token=${token}&hub.challenge=1158201444`);
  const right = await ask('test-verify-token');
  expect([right.status, await right.text()]).toEqual([200, '1158201444']);
  expect((await ask('wrong')).status).toBe(403);
  for (const query of ['', '&hub.challenge=', '&hub.challenge=1&hub.challenge=2']) {
    const unasked = await fetch(`${hook()}?hub.mode=subscribe&hub.verify_token=test-verify-token${query}`);
    expect([query, unasked.status]).toEqual([query, 403]);
  }
});

test('a webhook with a missing or wrong signature, or a changed byte, is rejected and not stored', async () => {
  const body = inbound(gateway.tenant, text('14155550001', 'forged'));
  expect((await fetch(hook(), { method: 'POST', body })).status).toBe(403);
  expect((await post(body, sign(Buffer.from(body), 'other'))).status).toBe(403);
  expect((await post(`${body} `, sign(Buffer.from(body), SECRET))).status).toBe(403);
  expect((await post('{"object":', sign(Buffer.from(body), SECRET))).status).toBe(403);
  expect(await gateway.database.query('select 1 from inbound_webhooks')).toEqual([]);
});

test('the secret of one channel cannot sign webhooks for another', async () => {
  const victim = await gateway.addTenant();
  await gateway.database.query(`update channels set app_secret_sealed = $2 where tenant_id = $1`, [
    victim.id,
    gateway.gateway.resources.secrets.seal('the-victims-own'),
  ]);
  const both = JSON.parse(inbound(gateway.tenant, text('14155550002', 'mine')));
  both.entry.push(...JSON.parse(inbound(victim, text('14155550003', 'not mine'))).entry);
  expect((await post(inbound(victim, text('14155550003', 'not mine')))).status).toBe(403);
  expect((await post(JSON.stringify(both))).status).toBe(200);
  await eventually(async () => expect((await messagesOf(gateway.tenant)).map(row => row.body)).toContain('mine'));
  expect(await messagesOf(victim)).toEqual([]);
});

test('the same webhook, and the same message in another webhook, are stored once', async () => {
  const tenant = await gateway.addTenant();
  const message = text('14155550010', 'once');
  const body = inbound(tenant, message);
  for (const status of await Promise.all(Array.from({ length: 5 }, async () => (await post(body)).status)))
    expect(status).toBe(200);
  await post(inbound(tenant, message, text('14155550010', 'other')));
  await eventually(async () =>
    expect((await messagesOf(tenant)).map(row => row.body).sort()).toEqual(['once', 'other']),
  );
  const events = await gateway.database.query(
    `select 1 from events where tenant_id = $1 and type = 'message.received'`,
    [tenant.id],
  );
  expect(events).toHaveLength(2);
});

test('every message type is stored', async () => {
  const tenant = await gateway.addTenant();
  const from = '+14155550020';
  const kinds = [
    'text',
    'image',
    'audio',
    'video',
    'document',
    'sticker',
    'location',
    'contacts',
    'reaction',
    'button',
    'interactive',
    'unsupported',
    'order',
    'system',
  ];
  for (const type of kinds) {
    const extra = {
      location: { latitude: 38.7, longitude: -9.1 },
      text: { text: 'Hi' },
      contacts: { contacts: [{ name: 'Bo', phone: '+14155550999' }] },
      reaction: { messageId: 'wamid.x', emoji: '👍' },
      button: { text: 'Yes', payload: 'yes' },
      interactive: { buttonReply: { id: 'y', title: 'Yes' } },
      order: { items: [{ productRetailerId: 'p', quantity: 1, itemPrice: 2, currency: 'EUR' }] },
      system: { newPhone: '+14155550021' },
    }[type];
    const answer = await fetch(`${gateway.emulator.url}/_emulator/inbound`, {
      method: 'POST',
      body: JSON.stringify({ type, from, phoneNumberId: tenant.phoneNumberId, ...extra }),
    });
    expect([type, answer.status, await answer.text()]).toEqual([type, 200, expect.any(String)]);
  }
  await eventually(async () =>
    expect((await messagesOf(tenant)).map(row => row.type).sort()).toEqual([...kinds].sort()),
  );
});

test('people are recognised by user id, by the number as the network spells it, and by its national variants', async () => {
  const tenant = await gateway.addTenant();
  const {
    createContact: { contact },
  } = dataOf(
    await gateway.graphql(
      'mutation { createContact(input: { phone: "+5511987654321" }) { contact { databaseId } } }',
      {},
      tenant.token,
    ),
  );
  const person = (ids: object) =>
    envelope(tenant, {
      contacts: [{ profile: { name: 'Rui Costa' }, ...ids }],
      messages: [{ ...text('551187654321', 'Oi'), ...('user_id' in ids ? { from_user_id: ids.user_id } : {}) }],
    });
  await post(person({ wa_id: '551187654321', user_id: 'BR.77' }));
  await post(person({ wa_id: '551187654321' }));
  await eventually(async () =>
    expect(new Set((await messagesOf(tenant)).map(row => Number(row.contact_id)))).toEqual(
      new Set([Number(contact.databaseId)]),
    ),
  );
  expect(
    await gateway.database.query('select count(*)::int as contacts from contacts where tenant_id = $1', [tenant.id]),
  ).toEqual([{ contacts: 1 }]);
});

test('an inbound message creates a contact beyond the plan’s limit, the API does not', async () => {
  const tenant = await gateway.addTenant({ plan: 'starter' });
  await gateway.database.query(
    'update tenant_usage set contacts_maximum = 0, contacts_ceiling = 0 where tenant_id = $1',
    [tenant.id],
  );
  await post(inbound(tenant, text('14155550030', 'let me in')));
  await eventually(async () => expect(await messagesOf(tenant)).toHaveLength(1));
  const refused = await gateway.graphql(
    'mutation { createContact(input: { phone: "+14155550031" }) { contact { id } userErrors { code ... on LimitError { used maximum } } } }',
    {},
    tenant.token,
  );
  expect(refused.data.createContact).toEqual({
    contact: null,
    userErrors: [{ code: 'FEATURE_LIMIT_EXCEEDED', used: 1, maximum: 0 }],
  });
});

test('STOP opts a contact out and START opts it in, with events', async () => {
  const tenant = await gateway.addTenant();
  const optedOut = async () =>
    (
      await gateway.database.query<{ out: boolean }>(
        'select opted_out_at is not null as out from contacts where tenant_id = $1',
        [tenant.id],
      )
    )[0]?.out;
  await post(inbound(tenant, text('14155550040', ' Stop! ')));
  await eventually(async () => expect(await optedOut()).toBe(true));
  await post(inbound(tenant, text('14155550040', 'please do not stop')));
  await post(inbound(tenant, text('14155550040', 'START')));
  await eventually(async () => expect(await optedOut()).toBe(false));
  const events = await gateway.database.query<{ type: string }>(
    `select type from events where tenant_id = $1 and type like 'contact.opted%' order by xid, seq`,
    [tenant.id],
  );
  expect(events.map(event => event.type)).toEqual(['contact.opted_out', 'contact.opted_in']);
});

test('a webhook of a thousand messages from a thousand people is stored completely', async () => {
  const tenant = await gateway.addTenant();
  const many = Array.from({ length: 1_000 }, (_, index) =>
    text(`1415600${String(index).padStart(4, '0')}`, `m${index}`),
  );
  expect((await post(inbound(tenant, ...many))).status).toBe(200);
  await eventually(async () => expect(await messagesOf(tenant)).toHaveLength(1_000));
  expect(
    await gateway.database.query('select contacts::int from tenant_usage where tenant_id = $1', [tenant.id]),
  ).toEqual([{ contacts: 1_000 }]);
});

test('a failing webhook does not block others, and is listed as unhandled', async () => {
  const tenant = await gateway.addTenant();
  await gateway.database.query(
    `with w as (
       insert into inbound_webhooks (tenant_id, digest, id, body)
       values ($1, '\\x00', '00000000-0000-7000-8000-000000000001', '{not json') returning tenant_id, id
     ) insert into waiting_webhooks (tenant_id, id) select * from w`,
    [tenant.id],
  );
  await post(inbound(tenant, text('14155550050', 'after it')));
  await eventually(async () => expect((await messagesOf(tenant)).map(row => row.body)).toEqual(['after it']));
  await eventually(async () =>
    expect(
      await gateway.database.query('select field, reason, raw from network_changes where tenant_id = $1', [tenant.id]),
    ).toEqual([{ field: '', reason: 'malformed', raw: null }]),
  );
});
