import { sql } from 'kysely';
import type { Db } from '../database/database.ts';
import { crossTenant } from '../database/expressions.ts';
import type { Cursor } from './cursor.ts';

/** Locks out readers of the log and concurrent restores until the transaction ends, however long that takes. */
export async function lockLog(trx: Db): Promise<void> {
  await sql`set local statement_timeout = 0`.execute(trx);
  // Batches are located by key: with hash joins each would scan all events.
  await sql`set local enable_hashjoin = off`.execute(trx);
  await sql`set local enable_mergejoin = off`.execute(trx);
  await sql`lock table log_readers in exclusive mode`.execute(trx);
}

export async function countEvents(trx: Db): Promise<number> {
  const { count } = await trx
    .selectFrom('events')
    .select(eb => eb.fn.countAll<number>().as('count'))
    .modifyEnd(crossTenant('the log as a whole'))
    .executeTakeFirstOrThrow();
  return count;
}

/** Moves readers to the positions that their events get from `renumberEvents`. Call it before that. */
export async function renumberReaders(trx: Db): Promise<void> {
  await sql`
    /* cross-tenant: positions belong to the log as a whole */
    update log_readers r set xid = '0', seq = (select count(*) from events e where (e.xid, e.seq) <= (r.xid, r.seq))`.execute(
    trx,
  );
}

export interface Numbered {
  /** Former position of the last renumbered event. */
  readonly until: Cursor;
  readonly count: number;
}

/**
 * Renumbers the next events after a position to (0, done + 1), (0, done + 2), … The new position is never greater than the former
 * one, so no event is visited twice.
 */
export async function renumberEvents(
  trx: Db,
  after: Cursor,
  done: number,
  limit: number,
): Promise<Numbered | undefined> {
  const { rows } = await sql<{ xid: string | null; seq: number | null; count: number }>`
    /* cross-tenant: as above */
    with batch as materialized (
      select e.tenant_id, e.id, e.xid, e.seq, row_number() over (order by e.xid, e.seq) as number
      from events e where (e.xid, e.seq) > (${String(after.xid)}::xid8, ${after.seq}::bigint)
      order by e.xid, e.seq limit ${limit}
    ), moved as (
      update events e set xid = '0', seq = ${done}::bigint + b.number from batch b where e.tenant_id = b.tenant_id and e.id = b.id
      returning 1
    )
    select last.xid::text as xid, last.seq, (select count(*) from moved) as count
    from (select xid, seq, number from batch order by number desc limit 1) last`.execute(trx);
  const [last] = rows;
  if (!last || last.xid === null || last.seq === null) return undefined;
  return { until: { xid: BigInt(last.xid), seq: last.seq }, count: last.count };
}

/** Expires all cursors from before the restore, including ids of events. */
export async function expireCursors(trx: Db): Promise<void> {
  await sql`
    update event_retention set xid = pg_snapshot_xmin(pg_current_snapshot()), seq = 0, instant = greatest(instant, clock_timestamp())`.execute(
    trx,
  );
}
