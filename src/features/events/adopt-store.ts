import { sql } from 'kysely';
import type { Db } from '../../platform/database.ts';

/** Whether something in the log, or a place in it, is of a transaction that this cluster has not had yet. */
export async function isOfAnotherCluster(db: Db): Promise<boolean> {
  const { rows } = await sql<{ is_so: boolean }>`
    /* cross-tenant: the log as a whole */
    select coalesce(max(last.xid) > pg_snapshot_xmax(pg_current_snapshot()), false) as is_so from (
      (select e.xid from events e order by e.xid desc, e.seq desc limit 1)
      union all select xid from log_readers
      union all select xid from event_horizon
    ) last`.execute(db);
  return rows[0]?.is_so ?? false;
}

/** Keeps readers, and others who would do the same, out until the transaction ends, however long that takes. */
export async function lockLog(trx: Db): Promise<void> {
  await sql`set local statement_timeout = 0`.execute(trx);
  await sql`lock table log_readers in exclusive mode`.execute(trx);
}

/**
 * Gives all events the oldest of places, numbered as they follow each other, and readers the places that are theirs now. The
 * horizon moves to the present: no cursor from before is good any more.
 * @returns how many events there are
 */
export async function renumber(trx: Db): Promise<number> {
  await sql`
    /* cross-tenant: places are of the log as a whole */
    update log_readers r set xid = '0', seq = (select count(*) from events e where (e.xid, e.seq) <= (r.xid, r.seq))`.execute(
    trx,
  );
  const { rows } = await sql<{ count: number }>`
    /* cross-tenant: as above */
    with numbered as (
      select tenant_id, id, row_number() over (order by xid, seq) as seq from events
    ), moved as (
      update events e set xid = '0', seq = n.seq from numbered n where e.tenant_id = n.tenant_id and e.id = n.id
      returning 1
    )
    select count(*)::int as count from moved`.execute(trx);
  await sql`update event_horizon set xid = pg_snapshot_xmin(pg_current_snapshot()), seq = 0`.execute(trx);
  return rows[0]?.count ?? 0;
}
