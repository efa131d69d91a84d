import { sql } from 'kysely';
import type { Db } from '../database/database.ts';
import { ifPermitted, readTimeline } from '../database/timeline.sql.ts';

/** Facts from the row and the server, read in one snapshot, because another process may write the row concurrently. */
export interface OriginFacts {
  /** Whether any process has written the row. */
  readonly is_known: boolean;
  readonly generation: number;
  readonly fault: string | null;
  /** Whether the transaction that wrote the row also recorded its own id in it; false after a dump and restore. */
  readonly is_original: boolean;
  readonly is_same_database: boolean;
  readonly is_same_system: boolean;
  readonly is_same_version: boolean;
  readonly is_same_timeline: boolean;
  /** The log or a reader has a position that this cluster has not reached. */
  readonly has_future_positions: boolean;
  /** The server was configured to recover to a point in time. */
  readonly has_recovery_target: boolean;
  readonly seen_at: string | null;
  /** Whether this role may read change times of server files. */
  readonly may_stat_files: boolean;
}

const DATABASE = sql.raw('(select oid::bigint from pg_database where datname = current_database())');
const VERSION = sql.raw(`(current_setting('server_version_num')::int / 10000)`);

/** The cluster's identity, as far as the role may read it: a managed service may hide either part. Null matches anything. */
export interface Cluster {
  /** A 64-bit number, as text. */
  readonly system: string | null;
  readonly timeline: number | null;
}

export async function readCluster(db: Db): Promise<Cluster> {
  const [system, timeline] = await Promise.all([
    ifPermitted(sql<{ id: string }>`select system_identifier::text as id from pg_control_system()`.execute(db)),
    readTimeline(db),
  ]);
  return { system: system?.id ?? null, timeline };
}

export async function readOrigin(db: Db): Promise<OriginFacts> {
  const { system, timeline } = await readCluster(db);
  const { rows } = await sql<OriginFacts>`
    /* cross-tenant: the log as a whole */
    select o.written_by is not null as is_known, o.generation, o.fault, o.seen_at,
      o.written_by::xid = o.xmin as is_original,
      o.database_oid = ${DATABASE} as is_same_database,
      coalesce(o.system_identifier = ${system}::bigint, true) as is_same_system,
      o.server_version = ${VERSION} as is_same_version,
      coalesce(o.timeline = ${timeline}::integer, true) as is_same_timeline,
      coalesce((select max(last.xid) from (
        (select e.xid from events e order by e.xid desc, e.seq desc limit 1)
        union all select xid from log_readers
        union all select xid from event_retention
      ) last) > pg_snapshot_xmax(pg_current_snapshot()), false) as has_future_positions,
      exists (select from pg_settings where name in ('recovery_target', 'recovery_target_name', 'recovery_target_time',
        'recovery_target_xid', 'recovery_target_lsn') and setting <> '') as has_recovery_target,
      has_function_privilege('pg_stat_file(text, boolean)', 'execute') as may_stat_files
    from log_origin o`.execute(db);
  const [facts] = rows;
  if (!facts) throw new Error('log_origin is empty');
  return facts;
}

/**
 * Whether the server was started from a base backup after the last heartbeat. It then renames backup_label, which changes the
 * file's change time; a standby that replays after its own start has a later seen_at.
 */
export async function startedFromBackup(db: Db): Promise<boolean> {
  const { rows } = await sql<{ began: boolean | null }>`
    select (select change from pg_stat_file('backup_label.old', true)) > o.seen_at as began from log_origin o`.execute(
    db,
  );
  return rows[0]?.began ?? false;
}

/** Records this database as the log's origin. @param generation a new one after a restore */
export async function writeOrigin(db: Db, { system, timeline }: Cluster, generation?: number): Promise<void> {
  await sql`
    update log_origin set written_by = pg_current_xact_id(), system_identifier = ${system}::bigint, database_oid = ${DATABASE},
      server_version = ${VERSION}, timeline = ${timeline}::integer, seen_at = clock_timestamp(), fault = null,
      generation = coalesce(${generation ?? null}::integer, generation)`.execute(db);
}

/** Writes a heartbeat, unless a process did so within `seconds` or the row is from another database. */
export async function touchOrigin(db: Db, seconds: number): Promise<void> {
  await sql`
    update log_origin set written_by = pg_current_xact_id(), seen_at = clock_timestamp()
    where written_by::xid = xmin and database_oid = ${DATABASE} and fault is null
      and seen_at < clock_timestamp() - ${seconds} * interval '1 s'`.execute(db);
}

/** Records a fault found by a running process and holds the outbox: no process starts on the log before it is restored. */
export async function writeFault(db: Db, fault: string): Promise<void> {
  await sql`
    update log_origin set written_by = pg_current_xact_id(), fault = ${fault}, outbox_held_at = coalesce(outbox_held_at, clock_timestamp())
    where fault is null`.execute(db);
}
