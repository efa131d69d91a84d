import { sql } from 'kysely';
import type { Db } from '../database/database.ts';

/*
 * The horizon of the log: a position below which no further event can appear.
 *
 * An event's position is (xid, seq). xid is the greater of the writer's own transaction id and xmax - 1 of the snapshot of its
 * insert (migrations/0006). A reader that advances in order loses an event if a smaller position becomes visible after a greater
 * one was read. It therefore reads strictly below a bound with this property: every transaction that can commit an event below the
 * bound has ended before the snapshot of the read.
 *
 * `pg_snapshot_xmin` is such a bound, but it counts every transaction of the cluster: one `begin; update …` left open in another
 * database stopped subscriptions, webhooks and bots until it ended (335 s measured). Instead, three statements run in this order,
 * each with its own snapshot:
 *
 * 1. Mark: read xmax, the transactions `xip` running below it, and the last value of the sequence. Ignore transactions of other
 *    databases.
 *    - If none is left, every transaction of this database below xmax has ended, and all others get ids, and so positions, from
 *      xmax on. The bound is (xmax, 0).
 *    - Otherwise let x be the oldest: no transaction writes below (x, 0), which is the bound.
 * 2. If x has been open for a while: find the transactions of `xip` that hold a write lock on the log.
 *    - If there are some, let w be the oldest. No other transaction of `xip` has written so far. One that starts to write later
 *      takes its lock, and then the snapshot of its insert, after the mark: its xid is at least xmax - 1, and its seq is drawn
 *      after that of the mark. The bound is (w, 0).
 *    - If there is none, the same argument gives (xmax - 1, seq + 1). Not (xmax, 0): (xmax - 1, later seq) may still appear.
 * 3. Read below the bound. The read sees everything that ended between 1 and 3.
 *
 * Conditions; breaking any of them loses events:
 * - Each statement runs by itself (autocommit). Within one transaction, pg_stat_get_activity repeats its first result.
 * - Writers are READ COMMITTED: with one snapshot for the whole transaction, xmax of an insert may be far below the mark
 *   (the connections of src/database/database.ts set it).
 * - backend_xid and prepared transactions have 32 bits: they are compared as `xid`, of which at most 2^31 are in use at once.
 * - pg_stat_get_activity is read before pg_prepared_xact: a transaction prepared in between is in both, never in neither.
 * - A transaction in no view (a managed service may hide other users' backend_xid) counts as one that can write.
 */

export interface Mark {
  readonly xmax: string;
  readonly seq: number;
  /** Transactions running below xmax, including those of other databases. */
  readonly xip: readonly string[];
  /** The oldest of them that may belong to this database; null if there is none. */
  readonly oldest: string | null;
  /**
   * Whether no transaction of this database had a transaction id after the snapshot was taken. False without a check if `knownSeq`
   * differs from `seq`.
   */
  readonly is_quiet: boolean;
}

/** Statement 1. @param knownSeq `seq` of the previous mark: `is_quiet` is examined only if nothing was written since */
export async function readMark(db: Db, knownSeq: number): Promise<Mark> {
  const { rows } = await sql<Mark>`
    /* cross-tenant: the horizon belongs to the log as a whole */
    with mark as materialized (
      select pg_current_snapshot() as s, coalesce(pg_sequence_last_value('events_seq'), 0) as seq
    )
    select pg_snapshot_xmax(s)::text as xmax, seq, array(select x::text from pg_snapshot_xip(s) x) as xip,
      (select min(x)::text from pg_snapshot_xip(s) x
       where not exists (select from pg_stat_get_activity(null) a where a.backend_xid = x::xid and a.datid <> d.oid)
         and not exists (select from pg_prepared_xact() p where p.transaction = x::xid and p.dbid <> d.oid)) as oldest,
      seq = ${knownSeq}::bigint
        and not exists (select from pg_stat_get_activity(null) a where a.backend_xid is not null and a.datid = d.oid)
        and not exists (select from pg_prepared_xact() p where p.dbid = d.oid) as is_quiet
    from mark, pg_database d where d.datname = current_database()`.execute(db);
  const [mark] = rows;
  if (!mark) throw new Error('The query for the horizon of the event log returned no row.');
  return mark;
}

/** Statement 2. @param xip of the mark @returns the oldest of them that has a write lock on the log or is in no view */
export async function findOldestWriter(db: Db, xip: readonly string[]): Promise<string | undefined> {
  const { rows } = await sql<{ x: string | null }>`
    /* cross-tenant: the horizon belongs to the log as a whole */
    with busy as materialized (
      select pid, datid, backend_xid from pg_stat_get_activity(null) where backend_xid is not null
    ), held as materialized (
      select l.pid from pg_lock_status() l, pg_database d
      where d.datname = current_database() and l.database = d.oid and l.locktype = 'relation'
        and l.relation = any(array(select relid::oid from pg_partition_tree('events')))
        and l.mode in ('RowExclusiveLock', 'ShareRowExclusiveLock', 'ExclusiveLock', 'AccessExclusiveLock')
    )
    select min(x)::text as x
    from unnest(${xip}::text[]::xid8[]) x cross join pg_database d left join busy b on b.backend_xid = x::xid
    where d.datname = current_database() and case
      when b.pid is null then not exists (select from pg_prepared_xact() p where p.transaction = x::xid and p.dbid <> d.oid)
      -- A lock without a process belongs to some prepared transaction.
      else b.datid = d.oid and exists (select from held h where h.pid = b.pid or h.pid is null) end`.execute(db);
  return rows[0]?.x ?? undefined;
}

/** The owner of a transaction. A prepared transaction has no process. */
export interface TransactionOwner {
  readonly pid: number | null;
  readonly application: string | null;
  readonly user: string | null;
  readonly state: string | null;
  /** Global id of a prepared transaction, for ROLLBACK PREPARED. */
  readonly prepared_as: string | null;
}

/** @returns undefined if the transaction is in no view */
export async function findOwner(db: Db, xid: string): Promise<TransactionOwner | undefined> {
  const { rows } = await sql<TransactionOwner>`
    /* cross-tenant: the horizon belongs to the log as a whole */
    select a.pid, a.application_name as application, a.usename as user, a.state, null as prepared_as
    from pg_stat_activity a where a.backend_xid = ${xid}::xid8::xid
    union all
    select null, null, p.owner, 'prepared', p.gid from pg_prepared_xacts p where p.transaction = ${xid}::xid8::xid`.execute(
    db,
  );
  return rows[0];
}
