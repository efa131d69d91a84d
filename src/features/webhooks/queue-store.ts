import { type RawBuilder, sql } from 'kysely';
import type { Database, Db } from '../../platform/database.ts';
import type { JsonObject } from '../../platform/json.ts';
import { type Stretch, within } from '../events/columns.ts';
import type { PublicAttempt, PublicDelivery } from './delivery.ts';
import type { EndpointPlace } from './endpoints-store.ts';
import { SHARDS } from './lane.ts';

/** The statements of the queue. They are of a shard, which works for all tenants. */

declare module '../../platform/database.ts' {
  interface Tables {
    webhook_deliveries: PublicDelivery & { tenant_id: number };
    webhook_attempts: { tenant_id: number; delivery_id: string; number: number };
  }
}

/**
 * Puts the events of a stretch into the queue, once for each endpoint that had asked for them when they happened. What is due is due by the clock of
 * the database, unless the given one lags behind: the order in which deliveries of one endpoint fall due is then that of the log,
 * whichever process reads it.
 * @returns shards with work
 */
export async function enqueueEvents(
  trx: Db,
  stretch: Stretch,
  undeliverable: readonly string[],
  nowIso: string,
): Promise<number[]> {
  const { rows } = await sql<{ shard: number }>`
    /* cross-tenant: each event goes to endpoints of its own tenant */
    with queued as (
      insert into webhook_deliveries (tenant_id, id, endpoint_id, shard, event_id, event_type, status, next_attempt_at, created_at)
      select e.tenant_id, uuid_v7(statement_timestamp(), row_number() over (order by e.xid, e.seq, w.id)), w.id, w.id % ${SHARDS},
        e.id, e.type, 'pending', least(${nowIso}::timestamptz, statement_timestamp()), statement_timestamp()
      from events e
      join webhook_endpoints w on w.tenant_id = e.tenant_id and w.enabled
        and w.events && array[e.type, split_part(e.type, '.', 1) || '.*', '*']
        -- A place that is still to come is of another cluster, from which the data was restored.
        and (e.xid >= w.listens_since or w.listens_since > pg_snapshot_xmax(pg_current_snapshot()))
      where ${within(stretch)} and e.type <> all(${undeliverable}::text[])
      returning shard
    )
    select distinct shard from queued`.execute(trx);
  return rows.map(row => row.shard);
}

/** PostgreSQL's settings for the planner. */
const BY_INDEX = {
  enable_sort: 'off',
  enable_hashjoin: 'off',
  enable_mergejoin: 'off',
  plan_cache_mode: 'force_generic_plan',
};

/**
 * Runs statements of the queue in a transaction in which they go from row to row by index, in its order, and stop where they may.
 * The queue fills faster than statistics follow: where the planner thinks that an endpoint has a handful of rows, it reads a
 * hundred thousand and sorts them, for each hundred that are wanted. And it counts a look-up in every month, of which only one is
 * done: to note a few attempts it read all deliveries there are and hashed them. With the ways given there is nothing to be learnt
 * from the values either: each connection plans a statement once (2 ms), not for each of its first calls.
 */
export function byIndex<T>(db: Database, work: (trx: Db) => Promise<T>): Promise<T> {
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
  /** ISO 8601. */
  readonly next_attempt_at: string;
  /** Whether there still is such an endpoint, and it is enabled. What waits for another is to be ended, due or not. */
  readonly is_live: boolean;
}

/** Endpoints looked at in one statement; a shard with more begins again behind the last. */
export const LOOK = 2_000;

/**
 * The endpoints of a shard that have something in the queue, with the time at which the first of it is due. Steps from one
 * endpoint to the next through the index: what an endpoint has behind its first row, however much, is not read.
 *
 * @param trx by index
 */
export async function waitingEndpoints(
  trx: Db,
  shard: number,
  behind: { readonly tenantId: number; readonly endpointId: number },
): Promise<WaitingEndpoint[]> {
  const next = (after: RawBuilder<unknown>) => sql`
    select d.tenant_id, d.endpoint_id, d.next_attempt_at from webhook_deliveries d
    where d.status = 'pending' and d.shard = ${shard} and (d.tenant_id, d.endpoint_id) > (${after})
    order by d.tenant_id, d.endpoint_id, d.next_attempt_at limit 1`;
  const { rows } = await sql<WaitingEndpoint>`
    /* cross-tenant: a shard delivers for all tenants */
    with recursive waiting as (
      (${next(sql`${behind.tenantId}::bigint, ${behind.endpointId}::bigint`)})
      union all
      select n.* from waiting w cross join lateral (${next(sql`w.tenant_id, w.endpoint_id`)}) n
    )
    select w.tenant_id, w.endpoint_id, w.next_attempt_at, coalesce(e.enabled, false) as is_live
    from (select * from waiting limit ${LOOK}) w
    left join webhook_endpoints e on e.tenant_id = w.tenant_id and e.id = w.endpoint_id
    order by w.tenant_id, w.endpoint_id`.execute(trx);
  return rows;
}

/** Shards in which something is due: the sweep that finds lost wake-ups. */
export async function dueShards(db: Db, nowIso: string): Promise<number[]> {
  const { rows } = await sql<{ shard: number }>`
    /* cross-tenant: the sweep wakes lanes, it reads no delivery */
    select s.shard from generate_series(0, ${SHARDS - 1}) as s (shard)
    where exists (
      select from webhook_deliveries d where d.status = 'pending' and d.shard = s.shard and d.next_attempt_at <= ${nowIso}::timestamptz)`.execute(
    db,
  );
  return rows.map(row => row.shard);
}

export interface Claimed {
  readonly tenant_id: number;
  readonly id: string;
  readonly endpoint_id: number;
  readonly event_id: string;
  readonly event_type: string;
  readonly is_test: boolean;
  readonly attempts: number;
  readonly tries: number;
  readonly next_attempt_at: string;
  readonly created_at: string;
  /** Null when the log does not have the event any more. */
  readonly payload: JsonObject | null;
  readonly occurred_at: string | null;
  readonly is_sandbox: boolean | null;
}

/** Of which endpoint more is wanted, and behind which row of its queue. */
export interface Wanted extends EndpointPlace {
  readonly behind: { readonly at: string; readonly id: string } | undefined;
}

const NIL = '00000000-0000-0000-0000-000000000000';

/**
 * The next due deliveries of some endpoints, up to `limit` of each, in the order in which they fall due. Nothing is marked: a
 * lane is at one process at a time, and what that had not noted when it died is simply there again.
 *
 * @param trx by index
 */
export async function nextDeliveries(
  trx: Db,
  shard: number,
  wanted: readonly Wanted[],
  limit: number,
  nowIso: string,
): Promise<Claimed[]> {
  const { rows } = await sql<Claimed>`
    /* cross-tenant: a shard delivers for all tenants, each endpoint by both of its keys */
    select d.*, e.payload, e.occurred_at, c.is_sandbox
    from unnest(${wanted.map(one => one.tenantId)}::bigint[], ${wanted.map(one => one.endpointId)}::bigint[],
                ${wanted.map(one => one.behind?.at ?? '-infinity')}::timestamptz[], ${wanted.map(one => one.behind?.id ?? NIL)}::uuid[])
      as w (tenant_id, endpoint_id, after_at, after_id)
    cross join lateral (
      select q.tenant_id, q.id, q.endpoint_id, q.event_id, q.event_type, q.is_test, q.attempts, q.tries, q.next_attempt_at, q.created_at
      from webhook_deliveries q
      where q.status = 'pending' and q.shard = ${shard} and q.tenant_id = w.tenant_id and q.endpoint_id = w.endpoint_id
        and q.next_attempt_at <= ${nowIso}::timestamptz and (q.next_attempt_at, q.id) > (w.after_at, w.after_id)
      order by q.next_attempt_at, q.id limit ${limit}
    ) d
    left join events e on e.tenant_id = d.tenant_id and e.id = d.event_id
    left join channels c on c.tenant_id = d.tenant_id
      and c.id = coalesce(e.payload -> 'message' ->> 'channel_id', e.payload -> 'channel' ->> 'id')::bigint
    order by d.tenant_id, d.endpoint_id, d.next_attempt_at, d.id`.execute(trx);
  return rows;
}

/** What one attempt came to, as it is written. */
export interface Recorded {
  readonly tenant_id: number;
  /** As it is after the attempt. Where another process has noted an attempt with this number, that stands. */
  readonly delivery: PublicDelivery;
  readonly attempt: PublicAttempt;
  readonly tries: number;
}

/**
 * Notes attempts: what became of the deliveries, the log, and an event for each, in one statement. As one JSON value, of
 * which the payloads of the events are parts as they are: fourteen arrays cost this process as much as a delivery.
 *
 * @param trx by index
 */
export async function recordAttempts(trx: Db, recorded: readonly Recorded[]): Promise<void> {
  await sql`
    /* cross-tenant: a shard delivers for all tenants, each delivery by both of its keys */
    with given as materialized (
      select r.ordinality, r.value, (r.value -> 'tenant_id')::bigint as tenant_id, (r.value -> 'delivery' ->> 'id')::uuid as delivery_id,
        (r.value -> 'attempt' -> 'number')::integer as number
      from jsonb_array_elements(${JSON.stringify(recorded)}::jsonb) with ordinality as r
    ), done as (
      update webhook_deliveries d set attempts = g.number, tries = (g.value -> 'tries')::integer, status = o.status,
        next_attempt_at = o.next_attempt_at, settled_at = o.settled_at, error = null
      from given g cross join lateral jsonb_to_record(g.value -> 'delivery')
        as o (status text, next_attempt_at timestamptz, settled_at timestamptz)
      where d.tenant_id = g.tenant_id and d.id = g.delivery_id and d.attempts = g.number - 1
      returning g.ordinality, g.tenant_id, g.delivery_id, g.value
    ), logged as (
      insert into webhook_attempts (tenant_id, delivery_id, number, at, status, duration_ms, response, error)
      select d.tenant_id, d.delivery_id, a.* from done d cross join lateral jsonb_to_record(d.value -> 'attempt')
        as a (number integer, at timestamptz, status integer, duration_ms integer, response text, error text)
    )
    insert into events (tenant_id, id, type, payload)
    select d.tenant_id, uuid_v7(statement_timestamp(), d.ordinality), 'webhook.delivery_attempted', d.value - '{tenant_id,tries}'::text[]
    from done d order by d.ordinality`.execute(trx);
}

/** Ends up to `limit` deliveries of an endpoint that wait, without an attempt. @returns how many */
export async function endWaiting(
  db: Db,
  tenantId: number,
  shard: number,
  endpointId: number,
  error: string,
  limit: number,
  nowIso: string,
): Promise<number> {
  const { numAffectedRows } = await sql`
    update webhook_deliveries set status = 'failed', next_attempt_at = null, settled_at = ${nowIso}::timestamptz, error = ${error}
    where tenant_id = ${tenantId} and id = any(array(
      select id from webhook_deliveries
      where status = 'pending' and shard = ${shard} and tenant_id = ${tenantId} and endpoint_id = ${endpointId}
      order by next_attempt_at, id limit ${limit})) and status = 'pending'`.execute(db);
  return Number(numAffectedRows ?? 0);
}

/** Ends deliveries whose events the log does not have any more. */
export async function endEventless(
  db: Db,
  tenantId: number,
  ids: readonly string[],
  error: string,
  nowIso: string,
): Promise<void> {
  await sql`
    update webhook_deliveries set status = 'failed', next_attempt_at = null, settled_at = ${nowIso}::timestamptz, error = ${error}
    where tenant_id = ${tenantId} and id = any(${ids}::uuid[]) and status = 'pending'`.execute(db);
}
