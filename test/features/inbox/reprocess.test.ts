import { afterAll, beforeAll, expect, test } from 'vitest';
import { listUnhandled } from '../../../src/features/inbox/changes.sql.ts';
import { reprocessUnhandled } from '../../../src/features/inbox/housekeeping.ts';
import { reprocess } from '../../../src/features/inbox/reprocess.ts';
import { sign } from '../../../src/network/cloud-api/signature.ts';
import { eventually, startGateway, type TestGateway, type TestTenant } from '../../support/gateway.ts';
import { startWorker } from '../../support/second-gateway.ts';

let gateway: TestGateway;
// Without a worker, whose own housekeeping would reprocess the same changes.
beforeAll(async () => {
  gateway = await startGateway({ role: 'gateway' });
});
afterAll(() => gateway.stop());

async function post(body: object): Promise<void> {
  const text = JSON.stringify(body);
  const headers = {
    'content-type': 'application/json',
    'x-hub-signature-256': sign(Buffer.from(text), 'test-app-secret'),
  };
  const answer = await fetch(`${gateway.url}/network/cloud-api/webhook`, { method: 'POST', headers, body: text });
  expect(answer.status).toBe(200);
}

const entryOf = (wabaId: string, phoneNumberId: string, id: string) => ({
  id: wabaId,
  changes: [
    {
      field: 'messages',
      value: {
        metadata: { phone_number_id: phoneNumberId },
        messages: [{ from: '14155550101', id, timestamp: '1790000000', type: 'text', text: { body: id } }],
      },
    },
  ],
});
const textsOf = async (tenant: TestTenant): Promise<string[]> =>
  (
    await gateway.database.query<{ body: string }>('select body from messages where tenant_id = $1 order by body', [
      tenant.id,
    ])
  ).map(row => row.body);

/** Applies what waits: the only texts of a tenant. */
async function applied(tenant: TestTenant, texts: readonly string[]): Promise<void> {
  const worker = await startWorker(gateway);
  try {
    await eventually(async () => expect(await textsOf(tenant)).toEqual(texts));
  } finally {
    await worker.stop();
  }
}

/** As an earlier version left a change that it could not apply. */
const leave = (tenant: TestTenant, raw: unknown) =>
  gateway.database.query(
    `insert into network_changes (tenant_id, id, webhook_id, field, reason, raw, version, received_at)
     values ($1, gen_random_uuid(), gen_random_uuid(), 'messages', 'unknown_field', $2, '0.0.1', now())`,
    [tenant.id, JSON.stringify(raw)],
  );

test('changes that an earlier version could not read are applied once; changes still unreadable stay listed', async () => {
  const tenant = await gateway.addTenant();
  const { resources } = gateway.gateway;
  await leave(tenant, entryOf(tenant.wabaId, tenant.phoneNumberId, 'wamid.later'));
  await leave(tenant, { id: tenant.wabaId, changes: [{ field: 'novelty', value: {} }] });
  await reprocessUnhandled(resources);
  await applied(tenant, ['wamid.later']);
  const left = await listUnhandled(resources.db.read, { tenantId: tenant.id, field: undefined, limit: 10 });
  expect(left).toMatchObject([{ tenant: tenant.slug, reason: 'unknown_field', version: '0.1.0' }]);
  expect(await reprocess(resources, { isUpgrade: true })).toMatchObject({ readable: 0 });
  expect(await reprocess(resources, { isUpgrade: false, tenantId: tenant.id })).toMatchObject({ read: 1, readable: 0 });
});

test('changes of a number from before its connection are delivered afterwards, if the same secret signed them', async () => {
  const { resources } = gateway.gateway;
  await post({ entry: [entryOf('7001', '7002', 'wamid.early'), entryOf('7003', '7004', 'wamid.foreign')] });
  const listed = await listUnhandled(resources.db.read, { tenantId: null, field: undefined, limit: 10 });
  expect(listed.map(({ tenant, reason }) => [tenant, reason])).toEqual([
    [null, 'unrouted'],
    [null, 'unrouted'],
  ]);
  const [mine, other] = [await gateway.addTenant(), await gateway.addTenant()];
  const take = (tenant: TestTenant, phoneNumberId: string) =>
    gateway.database.query(
      `with n as (update channel_numbers set phone_number_id = $2 where tenant_id = $1)
       update channels set phone_number_id = $2 where tenant_id = $1`,
      [tenant.id, phoneNumberId],
    );
  await take(mine, '7002');
  await take(other, '7004');
  await gateway.database.query('update channels set app_secret_sealed = $2 where tenant_id = $1', [
    other.id,
    resources.secrets.seal('another'),
  ]);
  expect(await reprocess(resources, { isUpgrade: true })).toMatchObject({ routed: 1 });
  await applied(mine, ['wamid.early']);
  expect(await gateway.database.query('select 1 from inbound_webhooks where tenant_id = $1', [other.id])).toEqual([]);
  expect(await reprocess(resources, { isUpgrade: true })).toMatchObject({ routed: 0 });
});
