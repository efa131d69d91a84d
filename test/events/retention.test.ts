import pg from 'pg';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { idFor } from '../../src/core/ids.ts';
import { append } from '../../src/events/append.ts';
import { registerReader } from '../../src/events/readers.sql.ts';
import { deleteOldEvents } from '../../src/events/retention.ts';
import { cleanInbox } from '../../src/features/inbox/housekeeping.ts';
import { cleanDeliveryLog } from '../../src/features/webhooks/housekeeping.ts';
import { DAY } from '../../src/platform/clock.ts';
import { follow, seen } from '../features/events/subscriber.ts';
import { eventually, startGateway, type TestGateway } from '../support/gateway.ts';

/** The gateway's clock is stopped; old rows are written with an old date. */
const NOW = Date.now();
let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startGateway({ role: 'gateway', clock: { now: () => NOW } });
});
afterAll(() => gateway.stop());

/** Appends events dated this many days ago, in log order. @returns their ids */
async function write(count: number, daysAgo: number): Promise<string[]> {
  const { db } = gateway.gateway.resources;
  await db.transaction(trx =>
    append(
      trx,
      gateway.tenant.id,
      Array.from({ length: count }, (_, index) => ({
        type: 'group.created' as const,
        payload: { group: { id: index, name: `${daysAgo} days ago` } as never },
      })),
    ),
  );
  const rows = await gateway.database.query<{ id: string }>(
    'select id from events where type = $1 order by seq desc limit $2',
    ['group.created', count],
  );
  const ids: string[] = [];
  for (const { id } of rows.reverse()) {
    const old = idFor(NOW - daysAgo * DAY, id);
    await gateway.database.query(`update events set id = $2, occurred_at = to_timestamp($3 / 1000.0) where id = $1`, [
      id,
      old,
      NOW - daysAgo * DAY,
    ]);
    ids.push(old);
  }
  return ids;
}

const kept = async (): Promise<string[]> =>
  (await gateway.database.query<{ id: string }>(`select id from events where type = 'group.created' order by seq`)).map(
    row => row.id,
  );

async function answerTo(after: string) {
  const follower = await follow(gateway.url, gateway.tenant.token, { types: ['group.*'], after });
  return follower;
}

describe('events', () => {
  test('older than 30 days are removed; older cursors and event ids get CURSOR_EXPIRED, later ones resume', async () => {
    const old = await write(5, 31);
    const young = await write(3, 29);
    const before = await follow(gateway.url, gateway.tenant.token, { types: ['group.*'], after: old[0] as string });
    await seen(before, 7);
    const [second] = before.events;
    const lastOld = before.events[3];
    await before.stop();

    await deleteOldEvents(gateway.gateway.resources, []);
    expect(await kept()).toEqual(young);

    for (const after of [second?.cursor, old[1]]) {
      const late = await answerTo(after as string);
      await eventually(() => expect(late.errors).toMatchObject([{ extensions: { code: 'CURSOR_EXPIRED' } }]));
      expect(late.events).toEqual([]);
      await late.stop();
    }
    // Nothing is missing after the last removed event.
    const exact = await answerTo(lastOld?.cursor as string);
    await seen(exact, 3);
    expect(exact.events.map(({ id }) => id)).toEqual(young);
    await exact.stop();
    const wrong = await answerTo(idFor(NOW, 'no event'));
    await eventually(() => expect(wrong.errors).toMatchObject([{ extensions: { code: 'VALIDATION_ERROR' } }]));
    await wrong.stop();
  });

  test('not yet consumed by a reader stay at any age', async () => {
    const { resources } = gateway.gateway;
    await registerReader(resources.db.write, 'sleeper', (await resources.horizon.advance()).position);
    const young = await kept();
    const waiting = await write(4, 90);
    await deleteOldEvents(resources, ['sleeper']);
    expect(await kept()).toEqual([...young, ...waiting]);
    // Readers unknown to this version do not retain events. An open transaction of this process may.
    await eventually(async () => {
      await deleteOldEvents(resources, []);
      expect(await kept()).toEqual(young);
    });
  });

  test('leave empty old partitions, which are dropped; a partition in use is skipped without waiting', async () => {
    const { database } = gateway;
    const partitions = async (): Promise<string[]> =>
      (
        await database.query<{ name: string }>(
          `select c.relname as name from pg_inherits i join pg_class c on c.oid = i.inhrelid where i.inhparent = 'events'::regclass order by 1`,
        )
      ).map(row => row.name);
    await database.query(
      `create table events_202001 partition of events for values from ('016f5e66-e800-0000-0000-000000000000') to ('016ffe0b-c400-0000-0000-000000000000')`,
    );
    const current = (await partitions()).filter(name => name !== 'events_202001');
    const reader = new pg.Client({ connectionString: database.url });
    await reader.connect();
    await reader.query('begin');
    await reader.query('select count(*) from events');
    await deleteOldEvents(gateway.gateway.resources, []);
    expect(await partitions()).toContain('events_202001');
    await reader.query('commit');
    // A lock on the parent table includes its partitions while a drop waits for one of them: no deadlock.
    await reader.query(`begin; lock table only events in access share mode; set local lock_timeout = '1ms'`);
    let hasWaited = false;
    await eventually(async () => {
      let isOver = false;
      const dropping = deleteOldEvents(gateway.gateway.resources, []).finally(() => {
        isOver = true;
      });
      while (!isOver && !hasWaited) {
        const waiting = await database.query(
          `select from pg_locks where relation = 'events'::regclass and mode = 'AccessExclusiveLock' and not granted`,
        );
        if (waiting.length === 0) continue;
        await reader.query('select count(*) from only events_202001');
        hasWaited = true;
      }
      await dropping;
      expect(hasWaited).toBe(true);
    });
    expect(await partitions()).toContain('events_202001');
    await reader.query('commit');
    await reader.end();
    // Whatever reads the log at that moment counts as a use, too.
    await eventually(async () => {
      await deleteOldEvents(gateway.gateway.resources, []);
      expect(await partitions()).toEqual(current);
    });
  });
});

test('the delivery log is dropped by month, once the last day of the month is 30 days past', async () => {
  const { database } = gateway;
  const months = async (): Promise<string[]> =>
    (
      await database.query<{ name: string }>(
        `select c.relname as name from pg_inherits i join pg_class c on c.oid = i.inhrelid
         where i.inhparent in ('webhook_deliveries'::regclass, 'webhook_attempts'::regclass) order by 1`,
      )
    ).map(row => row.name);
  const present = await months();
  // January 2020 in the form that uuid_at returns.
  const bounds = `for values from ('016f5e66-e800-0000-0000-000000000000') to ('016ffe0b-c400-0000-0000-000000000000')`;
  const id = '016f9000-0000-7000-8000-000000000000';
  for (const table of ['webhook_deliveries', 'webhook_attempts'])
    await database.query(`create table ${table}_202001 partition of ${table} ${bounds}`);
  await database.query(
    `insert into webhook_deliveries (tenant_id, id, endpoint_id, shard, event_id, event_type, status, created_at)
     values ($1, $2, 1, 1, $2, 'group.created', 'delivered', '2020-01-15')`,
    [gateway.tenant.id, id],
  );
  await database.query(
    `insert into webhook_attempts (tenant_id, delivery_id, number, at, duration_ms) values ($1, $2, 1, '2020-01-15', 5)`,
    [gateway.tenant.id, id],
  );
  expect(await months()).toHaveLength(present.length + 2);
  // A month in use is left to the next run.
  await eventually(async () => {
    await cleanDeliveryLog(gateway.gateway.resources);
    expect(await months()).toEqual(present);
  });
});

test('a month with a pending delivery (replayed late) is kept, with its attempts, until the delivery has ended', async () => {
  const months = async () =>
    (
      await gateway.database.query<{ month: string }>(
        `select c.relname as month from pg_inherits i join pg_class c on c.oid = i.inhrelid
         where i.inhparent in ('webhook_deliveries'::regclass, 'webhook_attempts'::regclass) and c.relname ~ '_2021' order by 1`,
      )
    ).map(row => row.month);
  for (const table of ['webhook_deliveries', 'webhook_attempts'])
    for (const [month, from, to] of [
      ['202101', '2021-01-01Z', '2021-02-01Z'],
      ['202102', '2021-02-01Z', '2021-03-01Z'],
    ])
      await gateway.database.query(
        `do $$ begin execute format('create table ${table}_${month} partition of ${table} for values from (%L) to (%L)',
           uuid_at('${from}'), uuid_at('${to}')); end $$`,
      );
  const [old, replayed] = ['2021-01-10', '2021-02-10'].map(day => idFor(Date.parse(day), `late ${day}`));
  for (const [id, status] of [
    [old, 'failed'],
    [replayed, 'pending'],
  ]) {
    await gateway.database.query(
      `insert into webhook_deliveries (tenant_id, id, endpoint_id, shard, event_id, event_type, status, next_attempt_at, created_at)
       values ($1, $2, 987, 3, $2, 'x', $3, case when $3 = 'pending' then now() + interval '1 day' end, '2021-02-10')`,
      [gateway.tenant.id, id, status],
    );
    await gateway.database.query(
      `insert into webhook_attempts (tenant_id, delivery_id, number, at, duration_ms) values ($1, $2, 1, '2021-02-10', 5)`,
      [gateway.tenant.id, id],
    );
  }
  const cleanTo = (left: readonly string[]) =>
    eventually(async () => {
      await cleanDeliveryLog(gateway.gateway.resources);
      expect(await months()).toEqual(left);
    });
  await cleanTo(['webhook_attempts_202102', 'webhook_deliveries_202102']);
  await gateway.database.query(
    `update webhook_deliveries set status = 'delivered', next_attempt_at = null where tenant_id = $1 and id = $2`,
    [gateway.tenant.id, replayed],
  );
  await cleanTo([]);
});

test('processed inbound webhooks are removed after 14 days; pending ones stay', async () => {
  const { database, tenant } = gateway;
  const insert = `with w as (
      insert into inbound_webhooks (tenant_id, digest, id, body, received_at)
      select $1, sha256($2::bytea), gen_random_uuid(), $2::bytea, to_timestamp($3 / 1000.0) returning *
    ) insert into waiting_webhooks select tenant_id, id, received_at, 0 from w where not $4`;
  for (const [body, days, processed] of [
    ['old', 15, true],
    ['waiting', 15, false],
    ['young', 13, true],
  ] as const)
    await database.query(insert, [tenant.id, Buffer.from(body), NOW - days * DAY, processed]);
  await cleanInbox(gateway.gateway.resources);
  const rows = await database.query<{ body: Buffer }>(
    'select body from inbound_webhooks where tenant_id = $1 order by received_at',
    [tenant.id],
  );
  expect(rows.map(({ body }) => body.toString()).sort()).toEqual(['waiting', 'young']);
});
