import { type RawBuilder, sql } from 'kysely';
import { ERASURE_EVENTS } from '../../../core/events.ts';
import { NIL_UUID } from '../../../core/ids.ts';
import type { Database, Db } from '../../../database/database.ts';
import { anyIn, anyOf, anyTenantHas, clockTime, isoTime } from '../../../database/expressions.ts';
import { isInRange, type LogRange } from '../../../events/log.sql.ts';
import { type Backlog, inAccount } from '../../../lanes/store/backlog.sql.ts';
import type { JsonObject } from '../../../platform/json.ts';
import type { EndpointRef } from '../endpoints/targets.sql.ts';
import type { AttemptedDelivery, PublicAttempt } from '../log/delivery.ts';
import { SHARDS } from './lane.ts';

// Statements of the queue act on a shard, which works for all tenants.

/** Whether any tenant has an endpoint that is enabled: if not, no event is queued. */
export const hasEnabledEndpoints = (trx: Db): Promise<boolean> =>
  anyTenantHas(trx.selectFrom('webhook_endpoints').select('id').where('enabled', '=', true));

/**
 * Queues the events of a range, once for each endpoint that was subscribed when they happened. Due by the clock of the database:
 * deliveries of one endpoint are due in the order of the log, whichever process reads it.
 * @returns shards with work
 */
export async function enqueueEvents(trx: Db, range: LogRange, undeliverable: readonly string[]): Promise<number[]> {
  const { rows } = await sql<{ shard: number }>`
    /* cross-tenant: each event goes to endpoints of its own tenant */
    with queued as (
      insert into webhook_deliveries (tenant_id, id, endpoint_id, shard, event_id, event_type, contact_id, status, next_attempt_at, created_at)
      select e.tenant_id, uuid_v7(statement_timestamp(), row_number() over (order by e.xid, e.seq, w.id)), w.id, w.id % ${SHARDS},
        e.id, e.type, e.contact_id, 'pending', statement_timestamp(), statement_timestamp()
      from events e
      join webhook_endpoints w on w.tenant_id = e.tenant_id and w.enabled
        and w.events && array[e.type, split_part(e.type, '.', 1) || '.*', '*']
        and (e.xid, e.seq) >= (w.listens_since, w.listens_since_seq)
      where ${isInRange(range)} and e.type <> all(${undeliverable}::text[]) and e.erased_at is null
      returning shard
    )
    select distinct shard from queued`.execute(trx);
  return rows.map(row => row.shard);
}

/** Planner settings of PostgreSQL. */
const BY_INDEX = {
  enable_seqscan: 'off',
  enable_sort: 'off',
  enable_hashjoin: 'off',
  enable_mergejoin: 'off',
  plan_cache_mode: 'force_generic_plan',
};

/**
 * Runs queue statements in a transaction that forces index scans in queue order with early termination. The queue fills faster
 * than statistics follow: if the planner expects a handful of rows for an endpoint, it reads and sorts a hundred thousand for
 * each hundred wanted. It also multiplies the cost of a look-up by the number of monthly partitions, though only one is visited;
 * to record a few attempts it hashed all deliveries. With the access paths fixed, parameter values make no difference, so that
 * each connection plans a statement once (2 ms) with a generic plan, which serves tables that were empty then.
 */
export function withIndexScans<T>(db: Database, work: (trx: Db) => Promise<T>): Promise<T> {
  return db.transaction(async trx => {
    await sql`
      select set_config(name, value, true)
      from unnest(${Object.keys(BY_INDEX)}::text[], ${Object.values(BY_INDEX)}::text[]) as s (name, value)`.execute(
      trx,
    );
    return work(trx);
  });
}

export interface WaitingEndpoint {
  readonly tenant_id: number;
  readonly endpoint_id: number;
  /** Milliseconds until its first delivery is due; 0 or less: due. */
  readonly due_in_ms: number;
  /** Whether the endpoint exists and is enabled. Deliveries of other endpoints are ended, due or not. */
  readonly is_live: boolean;
}

/** Endpoints visited per statement; a shard with more continues after the last one. */
export const SCAN_LIMIT = 2_000;

/**
 * Lists the endpoints of a shard that have queued deliveries, with the due time of the first one. Steps from endpoint to endpoint
 * through the index (a loose index scan): later rows of an endpoint are not read.
 *
 * @param trx the transaction of `withIndexScans`
 */
export async function waitingEndpoints(trx: Db, shard: number, scanAfter: EndpointRef): Promise<WaitingEndpoint[]> {
  const next = (after: RawBuilder<unknown>) => sql`
    select d.tenant_id, d.endpoint_id, d.next_attempt_at from webhook_deliveries d
    where d.status = 'pending' and d.shard = ${shard} and (d.tenant_id, d.endpoint_id) > (${after})
    order by d.tenant_id, d.endpoint_id, d.next_attempt_at limit 1`;
  const { rows } = await sql<WaitingEndpoint>`
    /* cross-tenant: a shard delivers for all tenants */
    with recursive waiting as (
      (${next(sql`${scanAfter.tenantId}::bigint, ${scanAfter.endpointId}::bigint`)})
      union all
      select n.* from waiting w cross join lateral (${next(sql`w.tenant_id, w.endpoint_id`)}) n
    )
    select w.tenant_id, w.endpoint_id, extract(epoch from w.next_attempt_at - clock_timestamp())::float8 * 1000 as due_in_ms,
      coalesce(e.enabled, false) as is_live
    from (select * from waiting limit ${SCAN_LIMIT}) w
    left join webhook_endpoints e on e.tenant_id = w.tenant_id and e.id = w.endpoint_id
    order by w.tenant_id, w.endpoint_id`.execute(trx);
  return rows;
}

/**
 * Finds shards with due deliveries, or with deliveries of disabled or deleted endpoints: the wake-up for these may be lost. Uses
 * a loose index scan over endpoints; see `Queue.dueLanes`.
 */
export const dueShardLanes = sql`
  select 0::bigint as tenant_id, s.shard::text as key from generate_series(0, ${sql.lit(SHARDS - 1)}) as s (shard)
  where exists (
    with recursive waiting as (
      (select d.tenant_id, d.endpoint_id, d.next_attempt_at from webhook_deliveries d
       where d.status = 'pending' and d.shard = s.shard order by d.tenant_id, d.endpoint_id, d.next_attempt_at limit 1)
      union all
      select n.* from waiting w cross join lateral (
        select d.tenant_id, d.endpoint_id, d.next_attempt_at from webhook_deliveries d
        where d.status = 'pending' and d.shard = s.shard and (d.tenant_id, d.endpoint_id) > (w.tenant_id, w.endpoint_id)
        order by d.tenant_id, d.endpoint_id, d.next_attempt_at limit 1) n
    )
    select from waiting w where w.next_attempt_at <= clock_timestamp() or not exists (
      select from webhook_endpoints e where e.tenant_id = w.tenant_id and e.id = w.endpoint_id and e.enabled))`;

/** The backlog of each lane; see `listLanes`. */
export const shardBacklog: Backlog = () => sql`
  select 0::bigint as tenant_id, shard::text as key, count(*) as count, min(created_at) as oldest_at
  from webhook_deliveries where status = 'pending' group by shard`;

/** Pending deliveries of each account, whatever their shard; see `listAccountLanes`. */
export const accountBacklog: Backlog = tenantId => sql`
  select tenant_id, tenant_id::text as key, count(*) as count, min(created_at) as oldest_at
  from webhook_deliveries where ${inAccount(tenantId)} and status = 'pending' group by tenant_id`;

export interface DueDelivery {
  readonly tenant_id: number;
  readonly id: string;
  readonly endpoint_id: number;
  readonly event_id: string;
  readonly event_type: string;
  readonly is_test: boolean;
  readonly attempts: number;
  readonly attempts_since_queued: number;
  readonly next_attempt_at: string;
  readonly created_at: string;
  /** Null if the event is no longer in the log. */
  readonly payload: JsonObject | null;
  readonly occurred_at: string | null;
  readonly is_sandbox: boolean | null;
}

/** The endpoint to fetch for, and the row of its queue to continue after. */
export interface Wanted extends EndpointRef {
  readonly after: { readonly at: string; readonly id: string } | undefined;
}

/**
 * Returns the next due deliveries of endpoints, up to `limit` of each, in order of due time. They are not marked as claimed: one
 * process holds the lane, and if it dies, deliveries without a recorded attempt are fetched again.
 *
 * @param trx the transaction of `withIndexScans`
 */
export async function nextDeliveries(
  trx: Db,
  shard: number,
  wanted: readonly Wanted[],
  limit: number,
): Promise<DueDelivery[]> {
  const { rows } = await sql<DueDelivery>`
    /* cross-tenant: a shard delivers for all tenants, each endpoint by both of its keys */
    select d.*, e.payload, e.occurred_at, c.is_sandbox
    from unnest(${wanted.map(one => one.tenantId)}::bigint[], ${wanted.map(one => one.endpointId)}::bigint[],
                ${wanted.map(one => one.after?.at ?? '-infinity')}::timestamptz[], ${wanted.map(one => one.after?.id ?? NIL_UUID)}::uuid[])
      as w (tenant_id, endpoint_id, after_at, after_id)
    cross join lateral (
      select q.tenant_id, q.id, q.endpoint_id, q.event_id, q.event_type, q.is_test, q.attempts, q.tries as attempts_since_queued, q.next_attempt_at, q.created_at
      from webhook_deliveries q
      where q.status = 'pending' and q.shard = ${shard} and q.tenant_id = w.tenant_id and q.endpoint_id = w.endpoint_id
        and q.next_attempt_at <= clock_timestamp() and (q.next_attempt_at, q.id) > (w.after_at, w.after_id)
      order by q.next_attempt_at, q.id limit ${limit}
    ) d
    -- Its order leaves the primary key only: a plan that was made for an empty log would read all of the account's for each row.
    left join lateral (
      select payload, occurred_at from events
      where tenant_id = d.tenant_id and id between d.event_id and d.event_id order by id limit 1
    ) e on true
    left join channels c on c.tenant_id = d.tenant_id
      and c.id = coalesce(e.payload -> 'message' ->> 'channel_id', e.payload -> 'channel' ->> 'id')::bigint
    order by d.tenant_id, d.endpoint_id, d.next_attempt_at, d.id`.execute(trx);
  return rows;
}

/** The result of one attempt. */
export interface Recorded {
  readonly tenant_id: number;
  /**
   * The delivery after the attempt, without times. An attempt already recorded under this number by another process is left
   * unchanged.
   */
  readonly delivery: AttemptedDelivery;
  readonly attempt: PublicAttempt;
  readonly attempts_since_queued: number;
  /** Milliseconds until the next attempt; null if there is none. */
  readonly retry_ms: number | null;
}

/**
 * Records attempts in one statement: the state of the deliveries, the log of attempts, and an event for each. The parameter is one
 * JSON value that contains the event payloads: fourteen arrays cost this process as much as a delivery. Back-offs count from the
 * database's clock.
 *
 * @param trx the transaction of `withIndexScans`
 */
export async function recordAttempts(trx: Db, recorded: readonly Recorded[]): Promise<void> {
  await sql`
    /* cross-tenant: a shard delivers for all tenants, each delivery by both of its keys */
    with given as materialized (
      select r.ordinality, r.value || jsonb_build_object('delivery', r.value -> 'delivery' || jsonb_build_object(
          'next_attempt_at', ${isoTime(sql`n.now + (r.value ->> 'retry_ms')::float8 * interval '1 ms'`)},
          'settled_at', case when r.value -> 'delivery' ->> 'status' <> 'pending' then ${isoTime(sql`n.now`)} end)) as value,
        (r.value -> 'tenant_id')::bigint as tenant_id, (r.value -> 'delivery' ->> 'id')::uuid as delivery_id,
        (r.value -> 'attempt' -> 'number')::integer as number
      from jsonb_array_elements(${JSON.stringify(recorded)}::jsonb) with ordinality as r, (select clock_timestamp() as now) n
    ), done as (
      update webhook_deliveries d set attempts = g.number, tries = (g.value -> 'attempts_since_queued')::integer,
        response_status = (g.value -> 'attempt' ->> 'status')::integer,
        -- The contact was erased, during the attempt or before an earlier version replayed it: no retry, and the response is not stored.
        status = case when d.erased_at is not null and o.status = 'pending' then 'failed' else o.status end,
        next_attempt_at = case when d.erased_at is null then o.next_attempt_at end,
        settled_at = case when d.erased_at is not null and o.status = 'pending' then coalesce(d.settled_at, clock_timestamp()) else o.settled_at end,
        error = case when d.erased_at is not null and o.status = 'pending' then d.error end
      from given g cross join lateral jsonb_to_record(g.value -> 'delivery')
        as o (status text, next_attempt_at timestamptz, settled_at timestamptz)
      where d.tenant_id = g.tenant_id and d.id = g.delivery_id and d.attempts = g.number - 1
      returning g.ordinality, g.tenant_id, g.delivery_id, d.contact_id,
        case when d.erased_at is null then g.value else jsonb_set(g.value, '{attempt,response}', 'null') end as value
    ), logged as (
      insert into webhook_attempts (tenant_id, delivery_id, number, at, status, duration_ms, response, error)
      select d.tenant_id, d.delivery_id, a.* from done d cross join lateral jsonb_to_record(d.value -> 'attempt')
        as a (number integer, at timestamptz, status integer, duration_ms integer, response text, error text)
    )
    insert into events (tenant_id, id, type, payload, contact_id)
    select d.tenant_id, uuid_v7(statement_timestamp(), d.ordinality), 'webhook.delivery_attempted', d.value - '{tenant_id,attempts_since_queued,retry_ms}'::text[], d.contact_id
    from done d order by d.ordinality`.execute(trx);
}

/** The state of a delivery that ends without an attempt. */
const failedWith = (error: string) => ({
  status: 'failed',
  next_attempt_at: null,
  settled_at: clockTime,
  error,
});

/**
 * Ends queued deliveries of an endpoint without an attempt, while it is disabled or deleted or its tenant suspended. The condition is
 * part of the statement: no snapshot has both the disabled endpoint and a delivery that was queued after it was enabled. Skips locked rows, as
 * the worker and the request that enables the endpoint may end its queue at the same time.
 *
 * @param limit without one: all
 * @returns how many
 */
export async function endWaiting(
  db: Db,
  tenantId: number,
  shard: number,
  endpointId: number,
  error: string,
  limit?: number,
): Promise<number> {
  const { numUpdatedRows } = await db
    .updateTable('webhook_deliveries')
    .set(failedWith(error))
    .where('tenant_id', '=', tenantId)
    .where(
      'id',
      '=',
      anyIn(
        db
          .selectFrom('webhook_deliveries')
          .select('id')
          .where('status', '=', sql.lit('pending'))
          .where('shard', '=', shard)
          .where('tenant_id', '=', tenantId)
          .where('endpoint_id', '=', endpointId)
          .where(({ not, exists, selectFrom }) =>
            not(
              exists(
                selectFrom('webhook_endpoints as w')
                  .innerJoin('tenants as t', 't.tenant_id', 'w.tenant_id')
                  .select('w.id')
                  .where('w.tenant_id', '=', tenantId)
                  .where('w.id', '=', endpointId)
                  .where('w.enabled', '=', true)
                  .where('t.status', '=', sql.lit('active')),
              ),
            ),
          )
          .orderBy('next_attempt_at')
          .orderBy('id')
          .$if(limit !== undefined, query => query.limit(Number(limit)))
          .forUpdate()
          .skipLocked(),
      ),
    )
    .where('status', '=', sql.lit('pending'))
    .executeTakeFirstOrThrow();
  return Number(numUpdatedRows);
}

/** Ends queued deliveries that cannot be attempted or recorded. */
export async function endDeliveries(db: Db, tenantId: number, ids: readonly string[], error: string): Promise<void> {
  await db
    .updateTable('webhook_deliveries')
    .set(failedWith(error))
    .where('tenant_id', '=', tenantId)
    .where('id', '=', anyOf(ids))
    .where('status', '=', sql.lit('pending'))
    .execute();
}

export interface ErasedDelivery {
  readonly id: string;
  readonly contact_id: number;
  readonly was_pending: boolean;
}

/** Marks deliveries about contacts as erased, and cancels those that are queued, except of events that report the erasure. Their rows are locked against new attempts. */
export async function cancelDeliveries(
  trx: Db,
  tenantId: number,
  contactIds: readonly number[],
  error: string,
  nowIso: string,
  limit: number,
): Promise<ErasedDelivery[]> {
  const { rows } = await sql<ErasedDelivery>`
    with found as materialized (
      select id, status = 'pending' as was_pending from webhook_deliveries
      where tenant_id = ${tenantId} and contact_id = any(${contactIds}::bigint[]) and erased_at is null
        and event_type <> all(${ERASURE_EVENTS}::text[])
      limit ${limit} for update
    )
    update webhook_deliveries d set erased_at = ${nowIso}::timestamptz,
      status = case when f.was_pending then 'failed' else d.status end,
      next_attempt_at = case when f.was_pending then null else d.next_attempt_at end,
      settled_at = case when f.was_pending then ${nowIso}::timestamptz else d.settled_at end,
      error = case when f.was_pending then ${error} else d.error end
    from found f where d.tenant_id = ${tenantId} and d.id = f.id and d.id = any(array(select id from found))
    returning d.id, d.contact_id, f.was_pending`.execute(trx);
  return rows;
}
