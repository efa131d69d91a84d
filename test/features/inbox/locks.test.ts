import { randomBytes } from 'node:crypto';
import { sql } from 'kysely';
import { afterAll, beforeAll, beforeEach, expect, onTestFinished, test } from 'vitest';
import type { Db } from '../../../src/database/database.ts';
import { connectChannel } from '../../../src/features/channels/connect.ts';
import { sign } from '../../../src/network/cloud-api/signature.ts';
import { codeOf, dataOf } from '../../support/answers.ts';
import { eventually, startGateway, type TestGateway, type TestTenant } from '../../support/gateway.ts';
import { newPhone, seedOf } from '../../support/seed.ts';

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
const wamid = (): string => `wamid.${randomBytes(9).toString('base64url')}`;

const textMessage = (from: string, body: string, id = wamid()) => ({
  from: from.slice(1),
  id,
  timestamp: String(at),
  type: 'text',
  text: { body },
});

/** One webhook with a message for each of some numbers of a tenant. */
const deliver = (
  tenant: TestTenant,
  messages: readonly { phoneNumberId: string; from: string; body: string; id?: string }[],
): Promise<void> =>
  deliverValues(
    tenant,
    messages.map(({ phoneNumberId, from, body, id }) => ({ phoneNumberId, messages: [textMessage(from, body, id)] })),
  );

/** One webhook with a change for each of some values. */
async function deliverValues(
  tenant: TestTenant,
  values: readonly { phoneNumberId: string; messages?: readonly unknown[]; statuses?: readonly unknown[] }[],
  others: readonly { readonly field: string; readonly value: object }[] = [],
): Promise<void> {
  const messages = values.map(({ phoneNumberId, ...value }) => ({
    field: 'messages',
    value: {
      messaging_product: 'whatsapp',
      metadata: { display_phone_number: '15550780000', phone_number_id: phoneNumberId },
      contacts: [],
      ...value,
    },
  }));
  const webhook = JSON.stringify({
    object: 'whatsapp_business_account',
    entry: [{ id: tenant.wabaId, changes: [...others, ...messages] }],
  });
  const answer = await fetch(`${gateway.url}/network/cloud-api/webhook`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-hub-signature-256': sign(Buffer.from(webhook), SECRET) },
    body: webhook,
  });
  expect(answer.status).toBe(200);
}

async function withSecondNumber(
  tenant: TestTenant,
  account: { readonly wabaId?: string; readonly portfolioId?: string } = {},
): Promise<string> {
  const phoneNumberId = `9${tenant.phoneNumberId}`;
  const business = {
    phoneNumberId,
    wabaId: tenant.wabaId,
    displayPhoneNumber: `+1 555 079 ${tenant.phoneNumberId}`,
    verifiedName: 'second',
    accessToken: `access-${phoneNumberId}`,
    messagesPerSecond: 1_000,
    ...account,
  };
  await fetch(`${gateway.emulator.url}/_emulator/numbers`, { method: 'POST', body: JSON.stringify(business) });
  await connectChannel(gateway.gateway.resources, tenant.id, {
    ...business,
    portfolioId: undefined,
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
  await eventually(async () => expect(await gateway.database.query('select 1 from waiting_webhooks')).toEqual([]));
  expect(gateway.logs.filter(line => JSON.stringify(line).includes('deadlock'))).toEqual([]);
}

const SEND =
  'mutation ($to: ID!) { sendMessage(input: { to: { contactId: $to }, content: { text: { body: "Hi" } } }) { message { databaseId } userErrors { code message path } } }';
const SEND_TO_NUMBER =
  'mutation ($to: String!) { sendMessage(input: { to: { phone: $to }, content: { text: { body: "Hi" } } }) { message { databaseId } userErrors { code message path } } }';

test('an opt-out during sends to the contact causes no deadlock', async () => {
  const tenant = await gateway.addTenant();
  const contact = await seedOf(gateway, tenant).contact();
  const id = wamid();
  await deliver(tenant, [{ phoneNumberId: tenant.phoneNumberId, from: contact.phone, body: 'Hello' }]);
  await allIsRead();
  // As in a new month: the next send is the first to count the conversation.
  await gateway.database.query('update conversations set counted_month = null where tenant_id = $1', [tenant.id]);
  await behind(
    trx =>
      // The same message, about to be stored by somebody else: the inbox stops between the conversation and the opt-out.
      sql`
        insert into message_wamids (tenant_id, channel_id, wamid, message_id)
        select tenant_id, id, ${id}, gen_random_uuid() from channels where tenant_id = ${tenant.id}`.execute(trx),
    () => deliver(tenant, [{ phoneNumberId: tenant.phoneNumberId, from: contact.phone, body: 'STOP', id }]),
    async () =>
      expect(codeOf(await gateway.graphql(SEND, { to: contact.globalId }, tenant.token))).toBe('CONTACT_OPTED_OUT'),
  );
  await allIsRead();
});

test('messages to two numbers of a tenant and a send to a new contact cause no deadlock', async () => {
  const tenant = await gateway.addTenant();
  const [second, known] = [await withSecondNumber(tenant), await seedOf(gateway, tenant).contact()];
  await behind(
    trx => sql`select from tenant_usage where tenant_id = ${tenant.id} for update`.execute(trx),
    async () => dataOf(await gateway.graphql(SEND_TO_NUMBER, { to: newPhone() }, tenant.token)),
    () =>
      deliver(tenant, [
        { phoneNumberId: tenant.phoneNumberId, from: known.phone, body: 'Hello' },
        { phoneNumberId: second, from: newPhone(), body: 'Hello' },
      ]),
  );
  await allIsRead();
});

test('messages to two numbers of a tenant and the deletion of a contact cause no deadlock', async () => {
  const tenant = await gateway.addTenant();
  const [second, known] = [await withSecondNumber(tenant), await seedOf(gateway, tenant).contact()];
  await behind(
    trx => sql`select from tenant_usage where tenant_id = ${tenant.id} for update`.execute(trx),
    async () =>
      dataOf(
        await gateway.graphql(
          'mutation ($id: ID!) { deleteContact(input: { id: $id }) { deletedId } }',
          { id: known.id },
          tenant.token,
        ),
      ),
    () =>
      deliver(tenant, [
        { phoneNumberId: tenant.phoneNumberId, from: known.phone, body: 'Hello' },
        { phoneNumberId: second, from: newPhone(), body: 'Hello' },
      ]),
  );
  await allIsRead();
});

test('a marketing refusal beside a message of a new person waits for a merge without a lock that the merge needs', async () => {
  const tenant = await gateway.addTenant();
  const { phoneNumberId } = tenant;
  const contact = await seedOf(gateway, tenant).contact();
  const sent = dataOf(await gateway.graphql(SEND, { to: contact.globalId }, tenant.token)).sendMessage.message;
  const refusal = {
    id: wamid(),
    status: 'failed',
    timestamp: String(at),
    recipient_id: contact.phone.slice(1),
    biz_opaque_callback_data: sent.databaseId,
    errors: [{ code: 131_050, title: 'User has stopped marketing messages' }],
  };
  await gateway.gateway.resources.db.transaction(async trx => {
    // As a merge does: first the counter, then the contacts.
    await sql`select from tenant_usage where tenant_id = ${tenant.id} for update`.execute(trx);
    await deliverValues(tenant, [{ phoneNumberId, statuses: [refusal], messages: [textMessage(newPhone(), 'Hello')] }]);
    await eventually(async () =>
      expect(
        await gateway.database.query(
          "select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock' and query like '%tenant_usage%'",
        ),
      ).toHaveLength(1),
    );
    await sql`select from contacts where tenant_id = ${tenant.id} and id = ${contact.id} for update nowait`.execute(
      trx,
    );
  });
  await allIsRead();
  expect(
    await gateway.database.query('select category, state from consent_entries where tenant_id = $1', [tenant.id]),
  ).toEqual([{ category: 'marketing', state: 'opted_out' }]);
});

test('ordinary statuses do not wait for a change of identities', async () => {
  const tenant = await gateway.addTenant();
  const contact = await seedOf(gateway, tenant).contact();
  const sent = dataOf(await gateway.graphql(SEND, { to: contact.globalId }, tenant.token)).sendMessage.message;
  // The network's own statuses show the person's user id, which is learned first.
  await eventually(async () =>
    expect(
      await gateway.database.query("select from contact_identities where tenant_id = $1 and kind = 'user_id'", [
        tenant.id,
      ]),
    ).toHaveLength(1),
  );
  await gateway.emulator.settled();
  await allIsRead();
  const read = {
    id: wamid(),
    status: 'read',
    timestamp: String(at),
    biz_opaque_callback_data: sent.databaseId,
  };
  await gateway.gateway.resources.db.transaction(async trx => {
    await sql`select from tenant_usage where tenant_id = ${tenant.id} for update`.execute(trx);
    await deliverValues(tenant, [{ phoneNumberId: tenant.phoneNumberId, statuses: [read] }]);
    await allIsRead();
  });
});

const waitingForLocks = (): Promise<unknown[]> =>
  gateway.database.query(
    "select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'",
  );

type Delivery = Parameters<typeof deliverValues>;

/** A conversation that begins. */
async function beginning({ phoneNumberId }: TestTenant): Promise<{ values: Delivery[1]; others: Delivery[2] }> {
  return { values: [{ phoneNumberId, messages: [textMessage(newPhone(), 'Hello')] }], others: [] };
}

/** The portfolio of an account, by which two contacts are one: their conversations on a number were counted twice. */
async function adoption(tenant: TestTenant): Promise<{ values: Delivery[1]; others: Delivery[2] }> {
  const { phoneNumberId, wabaId } = tenant;
  const portfolioId = `7${wabaId}`;
  const other = await withSecondNumber(tenant, { wabaId: `6${wabaId}`, portfolioId });
  const from = newPhone();
  const write = async (number: string, sender: object) => {
    gateway.emulator.inbound({ text: 'Hello', ...sender, phoneNumberId: number } as Parameters<
      TestGateway['emulator']['inbound']
    >[0]);
    await gateway.emulator.settled();
    await allIsRead();
  };
  await write(phoneNumberId, { userId: `DE.${wabaId}` });
  await write(other, { from, userId: `DE.${wabaId}` });
  await deliver(tenant, [{ phoneNumberId, from, body: 'Hello' }]);
  await allIsRead();
  const value = { event: 'PARTNER_ADDED', waba_info: { waba_id: wabaId, owner_business_id: portfolioId } };
  return { values: [], others: [{ field: 'account_update', value }] };
}

test.each([
  ['a conversation that begins', beginning, 2],
  ['a portfolio that makes two contacts one', adoption, 3],
])(
  '%s beside an early status, and a send to the person of the status, cause no deadlock',
  async (_what, prepare, conversations) => {
    gateway.emulator.setFaults({ ownerInfo: false });
    const tenant = await gateway.addTenant();
    gateway.emulator.setFaults({ ownerInfo: true });
    const { phoneNumberId } = tenant;
    const { values, others } = await prepare(tenant);
    const contact = await seedOf(gateway, tenant).contact();
    // The status overtakes the network's answer: the message is still in the outbox, whose answers nobody writes meanwhile.
    await gateway.database.query('update log_origin set outbox_held_at = now()');
    onTestFinished(async () => {
      await gateway.database.query('update log_origin set outbox_held_at = null');
    });
    const sent = dataOf(await gateway.graphql(SEND, { to: contact.globalId }, tenant.token)).sendMessage.message;
    await gateway.database.query('update outbox set dispatched_at = now() where tenant_id = $1', [tenant.id]);
    const status = {
      id: wamid(),
      status: 'sent',
      timestamp: String(at),
      recipient_id: contact.phone.slice(1),
      biz_opaque_callback_data: sent.databaseId,
    };
    let sending: ReturnType<TestGateway['graphql']> | undefined;
    await gateway.gateway.resources.db.transaction(async trx => {
      await sql`select from message_states where tenant_id = ${tenant.id} and message_id = ${sent.databaseId} for update`.execute(
        trx,
      );
      await deliverValues(tenant, [{ phoneNumberId, statuses: [status] }, ...values], others);
      await eventually(async () => expect(await waitingForLocks()).toHaveLength(1));
      sending = gateway.graphql(SEND, { to: contact.globalId }, tenant.token);
      await Promise.race([sending, eventually(async () => expect(await waitingForLocks()).toHaveLength(2))]);
    });
    expect(sending && dataOf(await sending).sendMessage.userErrors).toEqual([]);
    await allIsRead();
    expect(
      await gateway.database.query(
        'select messages::int as messages, conversations::int as conversations from monthly_usage where tenant_id = $1',
        [tenant.id],
      ),
    ).toEqual([{ messages: 2, conversations }]);
    expect(
      await gateway.database.query(
        'select deadlocks::int as deadlocks from pg_stat_database where datname = current_database()',
      ),
    ).toEqual([{ deadlocks: 0 }]);
  },
);
