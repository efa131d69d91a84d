import { sql } from 'kysely';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Db } from '../../../../src/database/database.ts';
import {
  nextDeliveries,
  type Recorded,
  recordAttempts,
  waitingEndpoints,
  withIndexScans,
} from '../../../../src/features/webhooks/delivery/queue.sql.ts';
import { startGateway, type TestGateway } from '../../../support/gateway.ts';
import { rowsReadBy } from '../../../support/rows-read.ts';

let gateway: TestGateway;
beforeAll(async () => {
  // Without a worker: nobody else takes from the queue.
  gateway = await startGateway({ role: 'gateway' });
});
afterAll(() => gateway.stop());

const QUEUED = 20_000;
const ENDPOINT = 4;
const SHARD = 0;

/** Many events, each with a delivery that waits. */
const queue = (trx: Db, endpointId: number, count: number): Promise<unknown> =>
  sql`with added as (
      insert into events (tenant_id, id, type, payload)
      select ${gateway.tenant.id}, uuid_v7(now(), n), 'group.created', '{}' from generate_series(1, ${count}::int) n returning id)
    insert into webhook_deliveries (tenant_id, id, endpoint_id, shard, event_id, event_type, status, next_attempt_at, created_at)
    select ${gateway.tenant.id}, uuid_v7(now(), row_number() over ()), ${endpointId}, ${SHARD}, id, 'group.created', 'pending', now(), now()
    from added`.execute(trx);

/** A queue of a month in which much has happened since anybody counted its rows. */
const fill = (): Promise<unknown> =>
  gateway.database.query(
    `insert into webhook_deliveries (tenant_id, id, endpoint_id, shard, event_id, event_type, status, next_attempt_at, created_at, settled_at)
     select $1, uuid_v7(now(), n), $2, $3, gen_random_uuid(), 'group.created', case when n > 100 then 'delivered' else 'pending' end,
       case when n <= 100 then now() end, now(), now() from generate_series(1, $4::int) n`,
    [gateway.tenant.id, ENDPOINT, SHARD, QUEUED],
  );

/** Rows that this transaction has read by going through a table, not by an index. */
async function readThrough(trx: Db): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    select sum(seq_tup_read)::int as count from pg_stat_xact_user_tables where relname like 'webhook_deliveries%'`.execute(
    trx,
  );
  return rows[0]?.count ?? 0;
}

const delivered = (id: string): Recorded => ({
  tenant_id: gateway.tenant.id,
  delivery: {
    id,
    endpoint_id: ENDPOINT,
    event_id: id,
    event_type: 'group.created',
    is_test: false,
    status: 'delivered',
    attempts: 1,
    error: null,
    created_at: '2026-01-01T00:00:00.000Z',
  },
  attempt: { number: 1, at: '2026-01-01T00:00:00.000Z', status: 200, duration_ms: 1, response: null, error: null },
  attempts_since_queued: 1,
  retry_ms: null,
});

test('a plan that was made for an empty queue serves one that has been filled since', async () => {
  await gateway.database.query('vacuum analyze webhook_deliveries');
  await gateway.database.query('vacuum analyze events');
  const wanted = [ENDPOINT + 4, ENDPOINT + 8].map(endpointId => ({
    tenantId: gateway.tenant.id,
    endpointId,
    after: undefined,
  }));
  const read = await withIndexScans(gateway.gateway.resources.db, async trx => {
    // The plan of this session, made while nothing waits.
    expect(await nextDeliveries(trx, SHARD, wanted, 40)).toEqual([]);
    expect(await waitingEndpoints(trx, SHARD, { tenantId: 0, endpointId: 0 })).toEqual([]);
    for (const { endpointId } of wanted) await queue(trx, endpointId, QUEUED);
    const count = await rowsReadBy(trx, ['webhook_deliveries', 'events'], async () => {
      expect(await nextDeliveries(trx, SHARD, wanted, 40)).toHaveLength(80);
      expect(await waitingEndpoints(trx, SHARD, { tenantId: 0, endpointId: 0 })).toHaveLength(2);
    });
    await sql`delete from webhook_deliveries where tenant_id = ${gateway.tenant.id}`.execute(trx);
    return count;
  });
  // Each delivery once, and the first of each endpoint. A scan reads all that wait.
  expect(read).toBeLessThan(200);
});

test('fetching from a queue and recording results read only the required rows, however long the queue', async () => {
  await fill();
  const { db } = gateway.gateway.resources;
  const wanted = [{ tenantId: gateway.tenant.id, endpointId: ENDPOINT, after: undefined }];
  const [next, rest] = await withIndexScans(db, async trx => {
    const rows = await nextDeliveries(trx, SHARD, wanted, 40);
    const [first, ...others] = rows;
    await recordAttempts(trx, first ? [delivered(first.id)] : []);
    await recordAttempts(
      trx,
      others.map(({ id }) => delivered(id)),
    );
    expect(await readThrough(trx)).toBe(0);
    return [rows, await nextDeliveries(trx, SHARD, wanted, 100)];
  });
  expect(next).toHaveLength(40);
  expect(rest).toHaveLength(60);
  expect(new Set([...next, ...rest].map(({ id }) => id)).size).toBe(100);
});

test('attempts are recorded once, each with its event, in the given order', async () => {
  const { db } = gateway.gateway.resources;
  const rows = await gateway.database.query<{ id: string }>(
    `select id from webhook_deliveries where tenant_id = $1 and status = 'pending' order by id desc limit 5`,
    [gateway.tenant.id],
  );
  const attempts = rows.map(({ id }) => delivered(id));
  await withIndexScans(db, trx => recordAttempts(trx, attempts));
  await withIndexScans(db, trx => recordAttempts(trx, attempts));
  const told = await gateway.database.query<{ id: string }>(
    `select payload -> 'delivery' ->> 'id' as id from events e where tenant_id = $1 and type = 'webhook.delivery_attempted'
     order by e.xid, e.seq`,
    [gateway.tenant.id],
  );
  expect(told.slice(-5)).toEqual(rows);
  expect(told).toHaveLength(45);
  const logged = await gateway.database.query<{ count: number }>(
    'select count(*)::int as count from webhook_attempts where tenant_id = $1',
    [gateway.tenant.id],
  );
  expect(logged).toEqual([{ count: 45 }]);
});
