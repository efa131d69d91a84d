import { sql } from 'kysely';
import type { Db } from '../../platform/database.ts';
import type { Cursor } from './cursor.ts';

/** Up to where events have been removed, and the transaction that no event can have yet. */
export async function readHorizon(db: Db): Promise<Cursor & { readonly instantMs: number; readonly endXid: bigint }> {
  const { rows } = await sql<{ xid: string; seq: number; instant_ms: number; end_xid: string }>`
    select xid::text as xid, seq, pg_snapshot_xmax(pg_current_snapshot())::text as end_xid, case when isfinite(instant) then extract(epoch from instant) * 1000 else 0 end::float8 as instant_ms
    from event_horizon`.execute(db);
  const [row] = rows;
  return {
    xid: BigInt(row?.xid ?? 0),
    seq: row?.seq ?? 0,
    instantMs: row?.instant_ms ?? 0,
    endXid: BigInt(row?.end_xid ?? 0),
  };
}

/**
 * Removes the oldest events of all tenants that happened before an instant, at most `limit`, and moves the horizon behind
 * them. What a reader of the log has still to take is left alone, however old.
 * @returns how many
 */
export async function deleteOldest(
  trx: Db,
  before: string,
  limit: number,
  readers: readonly string[],
): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    /* cross-tenant: what is too old is so for every tenant */
    with taken as (
      select xid, seq from log_readers where name = any(${readers}::text[]) order by xid, seq limit 1
    ), oldest as (
      select e.tenant_id, e.id, e.xid, e.seq, e.occurred_at from events e order by e.xid, e.seq limit ${limit}
    ), removed as (
      delete from events e using oldest o
      where e.tenant_id = o.tenant_id and e.id = o.id and o.occurred_at < ${before}
        and not exists (select from taken t where (o.xid, o.seq) > (t.xid, t.seq))
      returning e.xid, e.seq
    ), moved as (
      update event_horizon h set (xid, seq, instant) = (
        select greatest(h.xid, r.xid), case when r.xid >= h.xid then r.seq else h.seq end, greatest(h.instant, ${before}::timestamptz)
        from (select xid, seq from removed order by xid desc, seq desc limit 1) r)
      where exists (select from removed)
    )
    select count(*)::int as count from removed`.execute(trx);
  return rows[0]?.count ?? 0;
}
