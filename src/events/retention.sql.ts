import { sql } from 'kysely';
import type { Db } from '../database/database.ts';
import type { Cursor } from './cursor.ts';
import { isBeforePosition } from './log.sql.ts';

export interface RetentionRow {
  readonly xid: string;
  readonly seq: number;
  readonly instant_ms: number;
  readonly end_xid: string;
}

/** Returns the position up to which events have been removed, and the next transaction id, which no event can have yet. */
export async function readRetention(db: Db): Promise<Cursor & { readonly instantMs: number; readonly endXid: bigint }> {
  const { rows } = await sql<RetentionRow>`
    select xid::text as xid, seq, pg_snapshot_xmax(pg_current_snapshot())::text as end_xid,
      case when isfinite(instant) then extract(epoch from instant) * 1000 else 0 end::float8 as instant_ms
    from event_retention`.execute(db);
  const [row] = rows;
  return {
    xid: BigInt(row?.xid ?? 0),
    seq: row?.seq ?? 0,
    instantMs: row?.instant_ms ?? 0,
    endXid: BigInt(row?.end_xid ?? 0),
  };
}

/**
 * Removes at most `limit` of the oldest events of all tenants from before an instant, and moves the retention position past them.
 * Events at or above the horizon and events not yet consumed by a reader stay, whatever their age.
 * @returns the number of removed events
 */
export async function deleteOldest(
  trx: Db,
  before: string,
  limit: number,
  horizon: Cursor,
  readers: readonly string[],
): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    /* cross-tenant: the retention period is the same for every tenant */
    with taken as (
      select xid, seq from log_readers where name = any(${readers}::text[]) order by xid, seq limit 1
    ), oldest as (
      select e.tenant_id, e.id, e.xid, e.seq, e.occurred_at from events e where ${isBeforePosition(horizon)} order by e.xid, e.seq limit ${limit}
    ), removed as (
      delete from events e using oldest o
      where e.tenant_id = o.tenant_id and e.id = o.id and o.occurred_at < ${before}
        and not exists (select from taken t where (o.xid, o.seq) > (t.xid, t.seq))
      returning e.xid, e.seq
    ), moved as (
      update event_retention h set (xid, seq, instant) = (
        select greatest(h.xid, r.xid), case when r.xid >= h.xid then r.seq else h.seq end, greatest(h.instant, ${before}::timestamptz)
        from (select xid, seq from removed order by xid desc, seq desc limit 1) r)
      where exists (select from removed)
    )
    select count(*)::int as count from removed`.execute(trx);
  return rows[0]?.count ?? 0;
}
