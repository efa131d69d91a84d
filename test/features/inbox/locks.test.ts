import { randomBytes } from 'node:crypto';
import { sql } from 'kysely';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { connectChannel } from '../../../src/features/channels/connect.ts';
import { sign } from '../../../src/network/cloud-api/signature.ts';
import type { Db } from '../../../src/platform/database.ts';
import { idFor } from '../../../src/platform/ids.ts';
import { dataOf } from '../../support/answers.ts';
import { eventually, startGateway, type TestGateway, type TestTenant } from '../../support/gateway.ts';

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startGateway();
});
afterAll(() => gateway.stop());
beforeEach(() => {
  gateway.logs.length = 0;
});

const SECRET = 'test-app-secret';
const at = Math.floor(Date.now() / 1_000);
let phones = 0;
const nextPhone = (): string => `+49152${String(30_000_000 + ++phones)}`;
const wamid = (): string => `wamid.${randomBytes(9).toString('base64url')}`;

/** One webhook with a message for each of some numbers of a tenant. */
async function deliver(
  tenant: TestTenant,
  messages: readonly { phoneNumberId: string; from: string; body: string; id?: string }[],
): Promise<void> {
  const changes = messages.map(({ phoneNumberId, from, body, id = wamid() }) => ({
    field: 'messages',
    value: {
      messaging_product: 'whatsapp',
      metadata: { display_phone_number: '15550780000', phone_number_id: phoneNumberId },
      contacts: [],
      messages: [{ from: from.slice(1), id, timestamp: String(at), type: 'text', text: { body } }],
    },
  }));
  const webhook = JSON.stringify({ object: 'whatsapp_business_account', entry: [{ id: tenant.wabaId, changes }] });
  const answer = await fetch(`${gateway.url}/network/cloud-api/webhook`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-hub-signature-256': sign(Buffer.from(webhook), SECRET) },
    body: webhook,
  });
  expect(answer.status).toBe(200);
}

async function withContact(tenant: TestTenant): Promise<{ id: string; databaseId: number; phone: string }> {
  const phone = nextPhone();
  const create = 'mutation ($phone: String!) { createContact(input: { phone: $phone }) { id databaseId } }';
  return { ...dataOf(await gateway.graphql(create, { phone }, tenant.token)).createContact, phone };
}

async function withSecondNumber(tenant: TestTenant): Promise<string> {
  const phoneNumberId = `9${tenant.phoneNumberId}`;
  const business = {
    phoneNumberId,
    wabaId: tenant.wabaId,
    displayPhoneNumber: `+1 555 079 ${tenant.phoneNumberId}`,
    verifiedName: 'second',
    accessToken: `access-${phoneNumberId}`,
    messagesPerSecond: 1_000,
  };
  await fetch(`${gateway.emulator.url}/_emulator/numbers`, { method: 'POST', body: JSON.stringify(business) });
  await connectChannel(gateway.gateway.resources, tenant.id, {
    ...business,
    name: 'second',
    appSecret: SECRET,
    verifyToken: 'second',
  });
  return phoneNumberId;
}

/** Holds a lock while others come to wait behind it one after the other, then lets all of them go. */
async function behind(lock: (trx: Db) => Promise<unknown>, ...others: (() => Promise<unknown>)[]): Promise<void> {
  const running: Promise<unknown>[] = [];
  const left = new Error('let go');
  await gateway.gateway.resources.db
    .transaction(async trx => {
      await lock(trx);
      for (const [index, other] of others.entries()) {
        running.push(other());
        await eventually(async () => {
          const waiting = await gateway.database.query(
            "select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'",
          );
          expect(waiting).toHaveLength(index + 1);
        });
      }
      throw left;
    })
    .catch(error => {
      if (error !== left) throw error;
    });
  await Promise.all(running);
}

async function allIsRead(): Promise<void> {
  await eventually(async () =>
    expect(await gateway.database.query('select 1 from inbound_webhooks where processed_at is null')).toEqual([]),
  );
  expect(gateway.logs.filter(line => JSON.stringify(line).includes('deadlock'))).toEqual([]);
}

const SEND = 'mutation ($to: String!) { sendTextMessage(input: { to: $to, text: "Hi" }) { databaseId } }';

test('a person who asks for silence while they are written to makes nobody wait in a circle', async () => {
  const tenant = await gateway.addTenant();
  const contact = await withContact(tenant);
  const id = wamid();
  const [channel] = await gateway.database.query<{ id: number }>(
    'select id::int as id from channels where tenant_id = $1',
    [tenant.id],
  );
  const messageId = idFor(at * 1_000, `${channel?.id} ${id}`);
  await deliver(tenant, [{ phoneNumberId: tenant.phoneNumberId, from: contact.phone, body: 'Hello' }]);
  await allIsRead();
  // As in a new month: the next send is the first to count the conversation.
  await gateway.database.query('update conversations set counted_month = null where tenant_id = $1', [tenant.id]);
  await behind(
    trx =>
      // The same message, about to be stored by somebody else: the inbox stops between the conversation and the opt-out.
      sql`
        insert into messages (tenant_id, id, conversation_id, contact_id, channel_id, direction, type, status)
        select tenant_id, ${messageId}::uuid, id, contact_id, channel_id, 'inbound', 'text', 'received'
        from conversations where tenant_id = ${tenant.id}`.execute(trx),
    () => deliver(tenant, [{ phoneNumberId: tenant.phoneNumberId, from: contact.phone, body: 'STOP', id }]),
    async () => dataOf(await gateway.graphql(SEND, { to: contact.id }, tenant.token)),
  );
  await allIsRead();
});

test('people who write to two numbers of a tenant at once do not wait in a circle with a send to somebody new', async () => {
  const tenant = await gateway.addTenant();
  const [second, known] = [await withSecondNumber(tenant), await withContact(tenant)];
  await behind(
    trx => sql`select from tenant_usage where tenant_id = ${tenant.id} for update`.execute(trx),
    async () => dataOf(await gateway.graphql(SEND, { to: nextPhone() }, tenant.token)),
    () =>
      deliver(tenant, [
        { phoneNumberId: tenant.phoneNumberId, from: known.phone, body: 'Hello' },
        { phoneNumberId: second, from: nextPhone(), body: 'Hello' },
      ]),
  );
  await allIsRead();
});

test('nor with a contact of the one that is deleted', async () => {
  const tenant = await gateway.addTenant();
  const [second, known] = [await withSecondNumber(tenant), await withContact(tenant)];
  await behind(
    trx => sql`select from tenant_usage where tenant_id = ${tenant.id} for update`.execute(trx),
    async () =>
      dataOf(
        await gateway.graphql('mutation ($id: ID!) { deleteContact(id: $id) { id } }', { id: known.id }, tenant.token),
      ),
    () =>
      deliver(tenant, [
        { phoneNumberId: tenant.phoneNumberId, from: known.phone, body: 'Hello' },
        { phoneNumberId: second, from: nextPhone(), body: 'Hello' },
      ]),
  );
  await allIsRead();
});
