import { sql } from 'kysely';
import type { Db } from '../database/database.ts';

/*
 * The horizon of the log: the place below which no event can appear any more.
 *
 * An event's place is (xid, seq); xid is the writer's own transaction id or xmax - 1 of the snapshot of its insert, whichever
 * is greater (migrations/0006). A reader that takes places in order skips an event for ever if a smaller place becomes visible
 * after a greater one was read. So it reads strictly below a bound for which holds: a transaction that can still commit an event
 * below the bound has ended before the read's snapshot.
 *
 * `pg_snapshot_xmin` is such a bound, but counts every transaction of the cluster: one `begin; update …` left open in another
 * database stopped subscriptions, webhooks and bots for as long as it lasted (335 s measured). Here instead, in this order, each
 * statement in a snapshot of its own:
 *
 * 1. mark: xmax, and the transactions `xip` that run below it, less those of other databases; then the sequence's last value.
 *    - None is left: a transaction of this database below xmax has ended, every other gets an id, and so places, from xmax on.
 *      The bound is (xmax, 0).
 *    - Otherwise the oldest of them, x: no transaction writes below (x, 0).
 * 2. Where x has stood for a while: which of `xip` hold a writing lock on the log?
 *    - Some: the oldest of them, w. No other of `xip` has written so far. A transaction that begins to write later takes its lock,
 *      and after it the snapshot of its insert, after the mark: its xid is at least xmax - 1, and its seq is drawn after that of
 *      the mark. The bound is (w, 0).
 *    - None: by the same argument (xmax - 1, seq + 1). Not (xmax, 0): places of (xmax - 1, later seq) may still appear.
 * 3. the read below the bound. It sees what has ended between 1 and 3.
 *
 * Conditions, each of which loses events when broken:
 * - Each statement runs by itself (autocommit). In one transaction, pg_stat_get_activity answers from what it read first.
 * - Writers are READ COMMITTED: with one snapshot for the whole transaction, the xmax of an insert may lie far below the mark
 *   (the connections of src/database/database.ts set it).
 * - backend_xid and prepared transactions have 32 bits: compared as `xid`, within the 2^31 that may run at one time.
 * - pg_stat_get_activity is read before pg_prepared_xact: a transaction that is prepared in between is in both, never in neither.
 * - A transaction that no view shows (a managed service may hide other users' backend_xid) counts as one that can write.
 */

export interface Mark {
  readonly xmax: string;
  readonly seq: number;
  /** Transactions that ran below xmax, those of other databases among them. */
  readonly xip: readonly string[];
  /** The oldest of them that may be of this database; null: none. */
  readonly oldest: string | null;
  /** Whether no transaction of this database has a transaction id. False where `knownSeq` differs from `seq`: not examined. */
  readonly is_quiet: boolean;
}

/** Statement 1. @param knownSeq of the mark before: only a log at rest is worth asking for `is_quiet` */
export async function readMark(db: Db, knownSeq: number): Promise<Mark> {
  const { rows } = await sql<Mark>`
    /* cross-tenant: the horizon is of the log as a whole */
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
  if (!mark) throw new Error('the snapshot of the event log is empty');
  return mark;
}

/** Statement 2. @param xip of the mark @returns the oldest of them that has a writing lock on the log, or that no view shows */
export async function findOldestWriter(db: Db, xip: readonly string[]): Promise<string | undefined> {
  const { rows } = await sql<{ x: string | null }>`
    /* cross-tenant: the horizon is of the log as a whole */
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
      -- A lock without a process is of a prepared transaction, whichever.
      else b.datid = d.oid and exists (select from held h where h.pid = b.pid or h.pid is null) end`.execute(db);
  return rows[0]?.x ?? undefined;
}

/** The owner of a transaction: a process, or none if it is prepared. */
export interface TransactionOwner {
  readonly pid: number | null;
  readonly application: string | null;
  readonly user: string | null;
  readonly state: string | null;
  /** Of a prepared transaction: what COMMIT PREPARED takes. */
  readonly prepared_as: string | null;
}

/** @returns undefined when no view shows the transaction */
export async function findOwner(db: Db, xid: string): Promise<TransactionOwner | undefined> {
  const { rows } = await sql<TransactionOwner>`
    /* cross-tenant: the horizon is of the log as a whole */
    select a.pid, a.application_name as application, a.usename as user, a.state, null as prepared_as
    from pg_stat_activity a where a.backend_xid = ${xid}::xid8::xid
    union all
    select null, null, p.owner, 'prepared', p.gid from pg_prepared_xacts p where p.transaction = ${xid}::xid8::xid`.execute(
    db,
  );
  return rows[0];
}
