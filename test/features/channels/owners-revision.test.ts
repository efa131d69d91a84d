import { afterAll, beforeAll, expect, test } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../../support/database.ts';

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
  await database.query(
    `with created as (insert into tenants (slug, name, plan_id) select s, s, min(id) from plans, unnest('{a,b}'::text[]) s group by s
       returning tenant_id)
     insert into channels (tenant_id, id, name, phone_number_id, waba_id, display_phone_number, access_token_sealed, app_secret_sealed,
       verify_token_hash)
     overriding system value select tenant_id, tenant_id, 'c', tenant_id::text, 'w', '+1', '', '', '' from created`,
  );
  await database.query(
    'insert into channel_numbers (phone_number_id, tenant_id, channel_id) select phone_number_id, tenant_id, id from channels',
  );
});
afterAll(() => database.drop());

const FIRST = '(select min(tenant_id) from tenants)';
const LAST = '(select max(tenant_id) from tenants)';

const revision = async (): Promise<string | undefined> =>
  (await database.query<{ revision: string }>('select revision from webhook_owners_revision'))[0]?.revision;

test.each([
  `update channels set phone_number_id = 'other' where id = ${FIRST}`,
  `update channels set waba_id = 'other' where id = ${FIRST}`,
  `update channels set portfolio_id = 'p' where id = ${FIRST}`,
  `update channels set display_phone_number = '+2' where id = ${FIRST}`,
  `update channels set app_secret_sealed = '\\x01' where id = ${FIRST}`,
  `update channels set status = 'disconnected' where id = ${FIRST}`,
  `update channel_numbers set tenant_id = ${LAST}, channel_id = ${LAST} where tenant_id = ${FIRST}`,
  `insert into channel_numbers (phone_number_id, tenant_id, channel_id) values ('2nd', ${FIRST}, ${FIRST})`,
  `delete from channel_numbers where phone_number_id = '2nd'`,
  `insert into channels (tenant_id, name, phone_number_id, waba_id, display_phone_number, access_token_sealed, app_secret_sealed, verify_token_hash)
   values (${LAST}, 'd', 'd', 'w', '+3', '', '', '')`,
  `delete from tenants where tenant_id = ${FIRST}`,
])('owners of webhooks get another revision: %s', async change => {
  const before = await revision();
  await database.query(change);
  expect(await revision()).not.toBe(before);
});

test('what does not change the owners of webhooks keeps their revision', async () => {
  const before = await revision();
  await database.query(
    `update channels set name = 'other', messages_per_second = 10, status = 'active', updated_at = now()`,
  );
  expect(await revision()).toBe(before);
});
