import { type RawBuilder, sql } from 'kysely';
import { compileOnce } from '../../database/compile-once.ts';
import type { Db } from '../../database/database.ts';
import { bigints, crossTenant, texts, unnest } from '../../database/expressions.ts';
import { TIMELINE } from '../../database/timeline.sql.ts';
import type { LaneTurn } from '../lane.ts';

/**
 * Statements of the lane runtime. Times are read from the database's clock; processes pass durations only.
 *
 * `due_at` of `lanes` is the end of a lane's pause: the lane is not claimed before. (That of `outbox` is when a scheduled message is
 * sent.)
 */

export interface RequestedLane {
  readonly queue: string;
  readonly tenantId: number;
  readonly key: string;
}

export interface ClaimedLane {
  readonly queue: string;
  readonly tenant_id: number;
  readonly key: string;
  readonly epoch: number;
  readonly is_takeover: boolean;
}

const columnsOf = (lanes: readonly RequestedLane[]) =>
  sql`${lanes.map(lane => lane.tenantId)}::bigint[], ${lanes.map(lane => lane.queue)}::text[], ${lanes.map(lane => lane.key)}::text[]`;

/**
 * Claims the free lanes among these, except those that pause. Lanes that another process is claiming at the moment
 * are skipped (`skip locked`).
 */
export async function claimLanes(
  db: Db,
  processId: string,
  lanes: readonly RequestedLane[],
  leaseMs: number,
): Promise<ClaimedLane[]> {
  const { rows } = await sql<ClaimedLane>`
    /* cross-tenant: a process drains lanes of all tenants */
    with wanted as materialized (
      select * from unnest(${columnsOf(lanes)}) as w (tenant_id, queue, key)
    ), free as materialized (
      select l.tenant_id, l.queue, l.key, l.lease_until is not null as is_takeover
      from wanted w join lanes l on l.tenant_id = w.tenant_id and l.queue = w.queue and l.key = w.key
      where coalesce(l.lease_until, '-infinity') <= clock_timestamp() and coalesce(l.due_at, '-infinity') <= clock_timestamp()
      for update of l skip locked
    ), taken as (
      update lanes l set holder = ${processId}::uuid, epoch = nextval('lane_epochs'), due_at = null,
        lease_until = clock_timestamp() + ${leaseMs}::float8 * interval '1 ms', taken_at = clock_timestamp()
      from free f where l.tenant_id = f.tenant_id and l.queue = f.queue and l.key = f.key
      returning l.queue, l.tenant_id, l.key, l.epoch, f.is_takeover
    ), made as (
      insert into lanes (tenant_id, queue, key, epoch, holder, lease_until, taken_at)
      select w.tenant_id, w.queue, w.key, nextval('lane_epochs'), ${processId}::uuid,
        clock_timestamp() + ${leaseMs}::float8 * interval '1 ms', clock_timestamp()
      from wanted w
      where not exists (select from lanes l where l.tenant_id = w.tenant_id and l.queue = w.queue and l.key = w.key)
      on conflict do nothing
      returning queue, tenant_id, key, epoch, false as is_takeover
    )
    select * from taken union all select * from made`.execute(db);
  return rows;
}

export interface ProcessLoad {
  readonly id: string;
  readonly slots: Readonly<Record<string, number>>;
  readonly held: Readonly<Record<string, number>>;
}

/** A process that drains lanes. */
export interface LaneProcess {
  readonly id: string;
  readonly name: string;
  readonly slots: Readonly<Record<string, number>>;
  /** The timeline on which it has written again what it knew (`Promotion`); null: the server shows none. */
  readonly timeline: number | null;
}

export interface Renewal {
  /** The epochs that are still held. */
  readonly epochs: ReadonlySet<number>;
  /** The load of other live processes. */
  readonly processes: readonly ProcessLoad[];
  readonly timeline: number | null;
  /** Whether another process has not written on the timeline of this one. */
  readonly isBehind: boolean;
}

/** Renews all leases of a process and its heartbeat. */
export async function renewLanes(
  db: Db,
  process: LaneProcess,
  lanes: readonly LaneTurn[],
  leaseMs: number,
): Promise<Renewal> {
  const { rows } = await sql<{
    epochs: number[] | null;
    processes: ProcessLoad[] | null;
    timeline: number | null;
    is_behind: boolean;
  }>`
    /* cross-tenant: a process drains lanes of all tenants */
    with alive as (
      insert into lane_processes (id, name, places, seen_at, timeline)
      values (${process.id}::uuid, ${process.name}, ${JSON.stringify(process.slots)}::jsonb, clock_timestamp(), ${process.timeline}::integer)
      on conflict (id) do update set places = excluded.places, seen_at = excluded.seen_at, timeline = excluded.timeline
    ), renewed as (
      update lanes l set lease_until = clock_timestamp() + ${leaseMs}::float8 * interval '1 ms'
      from unnest(${columnsOf(lanes)}, ${lanes.map(lane => lane.epoch)}::bigint[]) as r (tenant_id, queue, key, epoch)
      where l.tenant_id = r.tenant_id and l.queue = r.queue and l.key = r.key and l.epoch = r.epoch
      returning l.epoch
    ), held as (
      select holder, jsonb_object_agg(queue, count) as lanes from (
        select holder, queue, count(*) as count from lanes where lease_until > clock_timestamp() group by holder, queue
      ) counted group by holder
    )
    select (select jsonb_agg(epoch) from renewed) as epochs,
      (select jsonb_agg(jsonb_build_object('id', p.id, 'slots', p.places, 'held', coalesce(h.lanes, '{}')))
       from lane_processes p left join held h on h.holder = p.id
       where p.id <> ${process.id}::uuid and p.seen_at > clock_timestamp() - ${leaseMs}::float8 * interval '1 ms') as processes,
      ${process.timeline === null ? sql`null::integer` : TIMELINE} as timeline,
      exists (select from lane_processes p where p.id <> ${process.id}::uuid and p.timeline <> ${process.timeline}::integer) as is_behind`.execute(
    db,
  );
  const [row] = rows;
  return {
    epochs: new Set(row?.epochs),
    processes: row?.processes ?? [],
    timeline: row?.timeline ?? null,
    isBehind: row?.is_behind ?? false,
  };
}

/** Deletes the heartbeats of processes that have not written on the timeline in this time: they died with the former primary. */
export async function deleteBehind(db: Db, timeline: number, silentMs: number): Promise<void> {
  await sql`
    delete from lane_processes
    where timeline <> ${timeline}::integer and seen_at < clock_timestamp() - ${silentMs}::float8 * interval '1 ms'`.execute(
    db,
  );
}

export interface Release extends LaneTurn {
  readonly pauseMs: number | undefined;
  /** The error that ended the turn, or the reason for the pause. */
  readonly error: string | undefined;
  /** Whether the turn failed: the pause begins at one second and doubles up to a minute. */
  readonly isFailure: boolean;
}

/**
 * Releases lanes, except those that another process has claimed since. Commits without waiting for the disk: if a
 * crash of the database undoes a release, the lane is free when its lease expires.
 */
export async function releaseLanes(db: Db, releases: readonly Release[]): Promise<void> {
  await sql`
    /* cross-tenant: a process drains lanes of all tenants */
    with unflushed as materialized (select set_config('synchronous_commit', 'off', true))
    update lanes l set holder = null, lease_until = null,
      failures = case when r.is_failure then l.failures + 1 else 0 end,
      error = r.error, failed_at = case when r.error is not null then clock_timestamp() end,
      due_at = case when r.is_failure then clock_timestamp() + least(60, 2 ^ least(l.failures, 10)) * interval '1 s'
        when r.pause_ms is not null then clock_timestamp() + r.pause_ms * interval '1 ms' end
    from unnest(${columnsOf(releases)}, ${releases.map(lane => lane.epoch)}::bigint[], ${releases.map(lane => lane.pauseMs ?? null)}::float8[],
                ${releases.map(lane => lane.error ?? null)}::text[], ${releases.map(lane => lane.isFailure)}::boolean[])
      as r (tenant_id, queue, key, epoch, pause_ms, error, is_failure), unflushed
    where l.tenant_id = r.tenant_id and l.queue = r.queue and l.key = r.key and l.epoch = r.epoch`.execute(db);
}

/** Finds lanes with due work that are free or held by this process. One statement for all queues. */
export async function findDueLanes(
  db: Db,
  processId: string,
  queues: readonly { readonly name: string; readonly dueLanes: RawBuilder<unknown> }[],
): Promise<{ readonly queue: string; readonly key: string }[]> {
  const due = queues.map(
    ({ name, dueLanes }) => sql`select ${sql.lit(name)} as queue, q.tenant_id, q.key from (${dueLanes}) q`,
  );
  const { rows } = await sql<{ queue: string; key: string }>`
    /* cross-tenant: the sweep finds lanes of all tenants; it returns no rows of their queues */
    select w.queue, w.key from (${sql.join(due, sql` union all `)}) w
    left join lanes l on l.tenant_id = w.tenant_id and l.queue = w.queue and l.key = w.key
    where (coalesce(l.lease_until, '-infinity') <= clock_timestamp() or l.holder = ${processId}::uuid)
      and coalesce(l.due_at, '-infinity') <= clock_timestamp()`.execute(db);
  return rows;
}

/** A condition: the lane is still held under this epoch. For statements that write non-critical data, such as a postponement. */
export const isHeld = ({ tenantId, queue, key, epoch }: LaneTurn) => sql<boolean>`exists (
  select from lanes l where l.tenant_id = ${tenantId} and l.queue = ${queue} and l.key = ${key} and l.epoch = ${epoch})`;

const selectHeldEpochs = compileOnce(
  (db, tenantIds: readonly number[], queues: readonly string[], keys: readonly string[], epochs: readonly number[]) =>
    db
      .selectFrom(
        unnest('h', {
          tenant_id: bigints(tenantIds),
          queue: texts(queues),
          key: texts(keys),
          epoch: bigints(epochs),
        }),
      )
      .innerJoin('lanes as l', join =>
        join
          .onRef('l.tenant_id', '=', 'h.tenant_id')
          .onRef('l.queue', '=', 'h.queue')
          .onRef('l.key', '=', 'h.key')
          .onRef('l.epoch', '=', 'h.epoch'),
      )
      .select('l.epoch')
      .modifyEnd(crossTenant('a process drains lanes of all tenants')),
);

/**
 * Returns the epochs of the lanes that are still held, without locking: for writes that are harmless if the lane is lost a moment
 * later.
 */
export async function findHeldEpochs(db: Db, lanes: readonly LaneTurn[]): Promise<ReadonlySet<number>> {
  const rows = await selectHeldEpochs(
    db,
    lanes.map(lane => lane.tenantId),
    lanes.map(lane => lane.queue),
    lanes.map(lane => lane.key),
    lanes.map(lane => lane.epoch),
  );
  return new Set(rows.map(row => row.epoch));
}

/**
 * Locks the lane's row until the transaction ends, so that no process claims it before the commit. @returns whether it is still
 * held
 */
export async function lockLane(trx: Db, { tenantId, queue, key, epoch }: LaneTurn): Promise<boolean> {
  const row = await trx
    .selectFrom('lanes')
    .select('epoch')
    .where('tenant_id', '=', tenantId)
    .where('queue', '=', queue)
    .where('key', '=', key)
    .where('epoch', '=', epoch)
    .forShare()
    .executeTakeFirst();
  return row !== undefined;
}

/** Deletes the heartbeat of a stopping process, and heartbeats older than an hour. */
export async function deleteProcess(db: Db, processId: string): Promise<void> {
  await db
    .deleteFrom('lane_processes')
    .where(eb =>
      eb.or([eb('id', '=', processId), eb('seen_at', '<', sql<string>`clock_timestamp() - interval '1 hour'`)]),
    )
    .execute();
}

/** Deletes lanes that were not claimed for a day. Epochs come from a sequence and are never reused. */
export async function deleteOldLanes(db: Db): Promise<void> {
  await sql`
    /* cross-tenant: housekeeping, by age alone */
    delete from lanes where holder is null and taken_at < clock_timestamp() - interval '1 day'
      and coalesce(lease_until, '-infinity') < clock_timestamp() and coalesce(due_at, '-infinity') < clock_timestamp()`.execute(
    db,
  );
}
