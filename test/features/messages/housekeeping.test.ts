import { afterAll, beforeAll, expect, test } from 'vitest';
import { applyMessageRetention } from '../../../src/features/messages/housekeeping.ts';
import { updateTenant } from '../../../src/features/tenancy/tenants/store.ts';
import { DAY } from '../../../src/platform/clock.ts';
import { dataOf } from '../../support/answers.ts';
import { eventually, startGateway, type TestGateway, type TestTenant } from '../../support/gateway.ts';

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startGateway();
});
afterAll(() => gateway.stop());

const countOf = async (tenant: TestTenant, text: string): Promise<number> => {
  const [row] = await gateway.database.query<{ n: number }>(`select (${text})::int as n`, [tenant.id]);
  return row?.n ?? -1;
};
const TABLES = ['messages', 'message_states', 'message_updates', 'message_wamids', 'message_failures'];
const counts = async (tenant: TestTenant) =>
  Object.fromEntries(
    await Promise.all(
      TABLES.map(
        async table => [table, await countOf(tenant, `select count(*) from ${table} where tenant_id = $1`)] as const,
      ),
    ),
  );
const READ = `select count(*) from message_states where tenant_id = $1 and status = 'read'`;
const usage = (tenant: TestTenant) =>
  countOf(tenant, 'select coalesce(sum(messages), 0) from monthly_usage where tenant_id = $1');

test('the retention of a scheduled message begins with its time, not with its acceptance', async () => {
  const tenant = await gateway.addTenant();
  const { db, clock } = gateway.gateway.resources;
  await db.transaction(trx => updateTenant(trx, tenant.id, { keepMessagesDays: 30 }));
  const send = {
    to: { phone: '+4915170000010' },
    content: { text: { body: 'Later' } },
    scheduledAt: { instant: new Date(Date.now() + 40 * DAY).toISOString() },
  };
  const scheduled = await gateway.mutate('sendMessage', send, 'message { databaseId }', tenant.token);
  const id = dataOf(scheduled).sendMessage.message.databaseId;
  const at = (days: number) => applyMessageRetention({ db, clock: { ...clock, now: () => Date.now() + days * DAY } });
  await gateway.database.query(`update outbox set due_at = now() - interval '1 second' where message_id = $1`, [id]);
  // No status that comes later competes with the deletion.
  await eventually(async () => expect(await countOf(tenant, READ)).toBe(1));
  const left = [];
  for (const days of [31, 41, 69, 71]) {
    await at(days);
    left.push(await countOf(tenant, 'select count(*) from messages where tenant_id = $1'));
  }
  expect(left).toEqual([1, 1, 1, 0]);
});

test('messages past the retention period are deleted with their rows in other tables; counters and other tenants stay', async () => {
  const other = await gateway.addTenant();
  for (const { token } of [gateway.tenant, other]) {
    for (let nth = 0; nth < 3; nth += 1)
      dataOf(
        await gateway.graphql(
          'mutation ($to: String!) { sendMessage(input: { to: { phone: $to }, content: { text: { body: "kept for a time" } } }) { message { databaseId } userErrors { code message path } } }',
          { to: `+491517000000${nth}` },
          token,
        ),
      );
  }
  const sent = { messages: 3, message_states: 3, message_updates: 3, message_wamids: 3, message_failures: 0 };
  for (const tenant of [gateway.tenant, other])
    await eventually(async () => {
      expect([await countOf(tenant, READ), await counts(tenant)]).toEqual([3, sent]);
    });
  const used = await usage(gateway.tenant);
  const { db } = gateway.gateway.resources;
  const at = (days: number) =>
    applyMessageRetention({ db, clock: { ...gateway.gateway.resources.clock, now: () => Date.now() + days * DAY } });
  await at(400);
  expect(await counts(gateway.tenant)).toEqual(sent);
  await db.transaction(trx => updateTenant(trx, gateway.tenant.id, { keepMessagesDays: 30 }));
  await at(29);
  expect(await counts(gateway.tenant)).toEqual(sent);
  await at(31);
  expect(await counts(gateway.tenant)).toEqual(Object.fromEntries(TABLES.map(table => [table, 0])));
  expect(await usage(gateway.tenant)).toBe(used);
  expect(await counts(other)).toEqual(sent);
});
