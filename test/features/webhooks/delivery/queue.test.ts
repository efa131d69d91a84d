import { sql } from 'kysely';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Db } from '../../../../src/database/database.ts';
import {
  byIndex,
  nextDeliveries,
  type Recorded,
  recordAttempts,
} from '../../../../src/features/webhooks/delivery/queue.sql.ts';
import { startGateway, type TestGateway } from '../../../support/gateway.ts';

let gateway: TestGateway;
beforeAll(async () => {
  // Without a worker: nobody else takes from the queue.
  gateway = await startGateway({ role: 'gateway' });
});
afterAll(() => gateway.stop());

const QUEUED = 20_000;
const ENDPOINT = 4;
const SHARD = 0;

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

test('fetching from a queue and recording results read only the required rows, however long the queue', async () => {
  await fill();
  const { db } = gateway.gateway.resources;
  const wanted = [{ tenantId: gateway.tenant.id, endpointId: ENDPOINT, after: undefined }];
  const [next, rest] = await byIndex(db, async trx => {
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
  await byIndex(db, trx => recordAttempts(trx, attempts));
  await byIndex(db, trx => recordAttempts(trx, attempts));
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
