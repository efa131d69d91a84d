import { afterAll, beforeAll, expect, test } from 'vitest';
import { startGateway, type TestGateway } from '../support/gateway.ts';

/**
 * Where a table has no statistics, the planner takes the youngest of several indexes that begin with the account. A look-up by the primary
 * key that is planned in an empty queue, or in the partition of a new month, must not read all rows of the account.
 */

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startGateway({ role: 'gateway' });
});
afterAll(() => gateway.stop());

/** Tables that are empty again and again, or have a partition for each month. */
const FAST = [
  'bot_inbox',
  'bot_replies',
  'campaign_recipients',
  'contact_identities',
  'events',
  'idempotency_keys',
  'inbound_webhooks',
  'media_files',
  'message_pricing',
  'messages',
  'outbox',
  'waiting_webhooks',
  'webhook_deliveries',
];

test('the primary key is the youngest index that begins with the account, in each partition too', async () => {
  const rows = await gateway.database.query<{ index: string }>(
    `with keys as (
       select i.indrelid, i.indexrelid, i.indisprimary, i.indkey[0] as first
       from pg_index i where i.indrelid in (select relid from unnest($1::text[]) t (name), pg_partition_tree(t.name::regclass) where relid is not null
         union select t.name::regclass from unnest($1::text[]) t (name)))
     select y.indexrelid::regclass::text as index from keys k join keys y on y.indrelid = k.indrelid and y.first = k.first and y.indexrelid > k.indexrelid
     where k.indisprimary`,
    [FAST],
  );
  expect(rows.map(row => row.index)).toEqual([]);
});

test('the same in a partition that is made later', async () => {
  const { database } = gateway;
  await database.query(
    `create table later partition of messages for values from ('fffffff0-0000-0000-0000-000000000000') to (maxvalue)`,
  );
  const rows = await database.query<{ isPrimary: boolean }>(
    `select indisprimary as "isPrimary" from pg_index where indrelid = 'later'::regclass and indkey[0] = 1 order by indexrelid desc limit 1`,
  );
  expect(rows).toEqual([{ isPrimary: true }]);
  await database.query('drop table later');
});
