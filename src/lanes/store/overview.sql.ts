import { sql } from 'kysely';
import type { Db } from '../../database/database.ts';
import type { Backlog } from './backlog.sql.ts';

/** A lane as shown to operators. */
export interface LaneOverview {
  /** `queue:key`. */
  readonly lane: string;
  /** Host and process id of the holder. */
  readonly holder: string | null;
  /** Number of waiting rows. */
  readonly backlog: number;
  /** Age of the oldest waiting row. */
  readonly oldest_seconds: number | null;
  readonly lease_until: string | null;
  /** End of the pause; null if the lane does not pause. */
  readonly rests_until: string | null;
  readonly failures: number;
  readonly error: string | null;
}

/** Lists lanes that are held, have a backlog or an error. @param queues their backlogs by name */
export async function listLanes(db: Db, queues: Readonly<Record<string, Backlog>>): Promise<LaneOverview[]> {
  const waiting = Object.entries(queues).map(
    ([queue, backlog]) => sql`select ${sql.lit(queue)} as queue, b.* from (${backlog(undefined)}) b`,
  );
  const { rows } = await sql<LaneOverview>`
    /* cross-tenant: an operator looks at the lanes of all tenants */
    select coalesce(l.queue, w.queue) || ':' || coalesce(l.key, w.key) as lane,
      case when l.lease_until > clock_timestamp() then coalesce(p.name, l.holder::text) end as holder,
      coalesce(w.count, 0) as backlog,
      extract(epoch from clock_timestamp() - w.oldest_at)::float8 as oldest_seconds,
      case when l.lease_until > clock_timestamp() then l.lease_until end as lease_until,
      case when l.due_at > clock_timestamp() then l.due_at end as rests_until,
      coalesce(l.failures, 0) as failures, l.error
    from lanes l
    full join (${sql.join(waiting, sql` union all `)}) w on w.tenant_id = l.tenant_id and w.queue = l.queue and w.key = l.key
    left join lane_processes p on p.id = l.holder
    where w.key is not null or l.lease_until > clock_timestamp() or l.due_at > clock_timestamp() or l.error is not null
    order by w.oldest_at nulls last, 1`.execute(db);
  return rows;
}

/** A lane as shown to its account. */
export interface AccountLane {
  readonly queue: string;
  readonly key: string;
  readonly is_held: boolean;
  readonly waiting: number;
  readonly oldest_at: string | null;
  /** End of the pause; null if the lane does not pause. */
  readonly rests_until: string | null;
  readonly failures: number;
  readonly error: string | null;
}

/** Lists the lanes of one account that were used or have a backlog, the longest waiting first. */
export async function listAccountLanes(
  db: Db,
  tenantId: number,
  queues: Readonly<Record<string, Backlog>>,
): Promise<AccountLane[]> {
  const waiting = Object.entries(queues).map(
    ([queue, backlog]) => sql`select ${sql.lit(queue)} as queue, b.* from (${backlog(tenantId)}) b`,
  );
  const { rows } = await sql<AccountLane>`
    select coalesce(l.queue, w.queue) as queue, coalesce(l.key, w.key) as key,
      coalesce(l.lease_until > clock_timestamp(), false) as is_held,
      coalesce(w.count, 0) as waiting, w.oldest_at,
      case when l.due_at > clock_timestamp() then l.due_at end as rests_until,
      coalesce(l.failures, 0) as failures, l.error
    from (select * from lanes where tenant_id = ${tenantId}) l
    full join (${sql.join(waiting, sql` union all `)}) w
      on w.tenant_id = l.tenant_id and w.queue = l.queue and w.key = l.key
    order by w.oldest_at nulls last, 1, 2`.execute(db);
  return rows;
}

export interface ReleasedLane {
  /** Host and process id of the former holder; null if there was none. */
  readonly holder: string | null;
  /** No process claims the lane earlier: the former holder may be about to start a call. */
  readonly free_at: string;
}

/**
 * Ends the lease and the pause of a lane. The epoch grows, so that the holder's renewals and writes fail; the lane stays
 * reserved until the lease would have expired, because the holder has not noticed yet.
 */
export async function endLease(
  db: Db,
  { tenantId, queue, key }: { readonly tenantId: number; readonly queue: string; readonly key: string },
): Promise<ReleasedLane | undefined> {
  const { rows } = await sql<ReleasedLane>`
    with old as materialized (
      select holder from lanes where tenant_id = ${tenantId} and queue = ${queue} and key = ${key} for update
    )
    update lanes l set epoch = nextval('lane_epochs'), holder = null, due_at = null, failures = 0
    from old where l.tenant_id = ${tenantId} and l.queue = ${queue} and l.key = ${key}
    returning (select coalesce(max(p.name), old.holder::text) from lane_processes p where p.id = old.holder) as holder,
      greatest(l.lease_until, clock_timestamp()) as free_at`.execute(db);
  return rows[0];
}
