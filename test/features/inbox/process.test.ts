import { sql } from 'kysely';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { reprocess } from '../../../src/features/inbox/reprocess.ts';
import { claimWebhooks } from '../../../src/features/inbox/webhooks.sql.ts';
import { sign } from '../../../src/network/cloud-api/signature.ts';
import { eventually, startGateway, type TestGateway, type TestTenant } from '../../support/gateway.ts';

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startGateway();
});
afterAll(() => gateway.stop());

async function post(tenant: TestTenant, ...texts: string[]): Promise<void> {
  const changes = texts.map(body => ({
    field: 'messages',
    value: {
      metadata: { phone_number_id: tenant.phoneNumberId },
      messages: [{ from: '14155550101', id: `wamid.${body}`, timestamp: '1790000000', type: 'text', text: { body } }],
    },
  }));
  const body = JSON.stringify({ object: 'whatsapp_business_account', entry: [{ id: tenant.wabaId, changes }] });
  const answer = await fetch(`${gateway.url}/network/cloud-api/webhook`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-hub-signature-256': sign(Buffer.from(body), 'test-app-secret') },
    body,
  });
  expect(answer.status).toBe(200);
}

/** Lets every write of a table fail with an SQLSTATE. */
async function breakTable(table: string, code: string): Promise<void> {
  await gateway.database.query(
    `create or replace function break_table() returns trigger language plpgsql as $$
     begin raise exception 'broken' using errcode = tg_argv[0]; end $$`,
  );
  await gateway.database.query(
    `create trigger broken before insert on ${table} for each row execute function break_table('${code}')`,
  );
}
const mendTable = (table: string) => gateway.database.query(`drop trigger if exists broken on ${table}`);
afterEach(async () => {
  for (const table of ['messages', 'inbound_webhook_people']) await mendTable(table);
});

const textsOf = async (tenant: TestTenant): Promise<string[]> =>
  (
    await gateway.database.query<{ body: string }>('select body from messages where tenant_id = $1 order by body', [
      tenant.id,
    ])
  ).map(({ body }) => body);

/** What waits of a tenant; `pause` is that before the next attempt, in seconds and since the instant of the query. */
const waitingOf = (tenant: TestTenant) =>
  gateway.database.query<{ attempts: number; failures: number; pause: number }>(
    `select attempts, failures, extract(epoch from retry_at - now())::float8 as pause from waiting_webhooks
     where tenant_id = $1 and attempts > 0`,
    [tenant.id],
  );

/** As if a webhook had failed nine times since yesterday. */
const failNineTimes = (tenant: TestTenant, failures: number) =>
  gateway.database.query(
    `update waiting_webhooks set attempts = 9, failures = $2, retry_at = now() - interval '1 second', received_at = now() - interval '1 day' where tenant_id = $1`,
    [tenant.id, failures],
  );
const retryNow = (tenant: TestTenant) =>
  gateway.database.query("update waiting_webhooks set retry_at = now() - interval '1 second' where tenant_id = $1", [
    tenant.id,
  ]);

test('a fault of the database does not lose a webhook, however long it lasts', async () => {
  const tenant = await gateway.addTenant();
  await breakTable('messages', '53100');
  await post(tenant, 'while the disk was full');
  await eventually(async () => expect(await waitingOf(tenant)).toHaveLength(1));
  await failNineTimes(tenant, 0);
  // Tried once more, it waits for a minute from then on, although it is a day old.
  await eventually(async () => expect(await waitingOf(tenant)).toMatchObject([{ attempts: 8, failures: 0 }]));
  const [waiting] = await waitingOf(tenant);
  expect(waiting?.pause).toBeGreaterThan(30);
  await mendTable('messages');
  await retryNow(tenant);
  await eventually(async () => expect(await textsOf(tenant)).toEqual(['while the disk was full']));
  expect(await gateway.database.query('select 1 from waiting_webhooks where tenant_id = $1', [tenant.id])).toEqual([]);
});

test('a webhook that fails ten times for a reason of its own is listed as unhandled, and applied when it is reprocessed', async () => {
  const tenant = await gateway.addTenant();
  await breakTable('inbound_webhook_people', 'P0001');
  await post(tenant, 'one', 'two');
  await eventually(async () => expect(await waitingOf(tenant)).toMatchObject([{ failures: expect.any(Number) }]));
  await failNineTimes(tenant, 9);
  const changes = () =>
    gateway.database.query(
      'select field, reason, error, channel_id is not null as has_channel from network_changes where tenant_id = $1 and handled_at is null',
      [tenant.id],
    );
  const change = { field: 'messages', reason: 'failed', error: 'broken', has_channel: true };
  await eventually(async () => expect(await changes()).toEqual([change, change]));
  expect(await gateway.database.query('select 1 from waiting_webhooks where tenant_id = $1', [tenant.id])).toEqual([]);
  expect(await textsOf(tenant)).toEqual([]);
  await mendTable('inbound_webhook_people');
  expect(await reprocess(gateway.gateway.resources, { isUpgrade: false, tenantId: tenant.id })).toMatchObject({
    readable: 2,
  });
  await eventually(async () => expect(await textsOf(tenant)).toEqual(['one', 'two']));
  expect(await changes()).toEqual([]);
});

test('faults of the database do not count towards the ten failures', async () => {
  const tenant = await gateway.addTenant();
  await breakTable('inbound_webhook_people', '57014');
  await post(tenant, 'kept');
  await eventually(async () => expect(await waitingOf(tenant)).toHaveLength(1));
  await failNineTimes(tenant, 9);
  await eventually(async () => expect(await waitingOf(tenant)).toMatchObject([{ attempts: 8, failures: 9 }]));
  await mendTable('inbound_webhook_people');
  await retryNow(tenant);
  await eventually(async () => expect(await textsOf(tenant)).toEqual(['kept']));
});

test('of failed webhooks, the one that has waited longest since its last attempt is next, so that none keeps the others from their turn', async () => {
  const tenant = await gateway.addTenant();
  const undone = new Error('undone');
  const claimed: string[] = [];
  await gateway.gateway.resources.db
    .transaction(async trx => {
      await sql`
        with w as (
          insert into inbound_webhooks (tenant_id, digest, id, body)
          select ${tenant.id}, int4send(n), ('00000000-0000-7000-8000-00000000000' || n)::uuid, '{}' from generate_series(1, 3) n returning tenant_id, id
        ) insert into waiting_webhooks (tenant_id, id, attempts, retry_at)
        select tenant_id, id, 8, now() - make_interval(secs => right(id::text, 1)::integer) from w`.execute(trx);
      claimed.push(...(await claimWebhooks(trx, tenant.id, 'failed', 1, 1_000)).map(({ id }) => id.slice(-1)));
      throw undone;
    })
    .catch(error => expect(error).toBe(undone));
  expect(claimed).toEqual(['3']);
});
