import { sql } from 'kysely';
import type { Db } from '../database/database.ts';
import { transactionTime } from '../database/expressions.ts';
import { type Cursor, positionBefore } from './cursor.ts';
import { isAfterPosition, isBeforePosition, type LogRange } from './log.sql.ts';

/** Registers a new reader at the horizon: it reads only later events. */
export async function registerReader(db: Db, name: string, horizon: Cursor): Promise<void> {
  const { xid, seq } = positionBefore(horizon);
  await db
    .insertInto('log_readers')
    .values({ name, xid: String(xid), seq })
    .onConflict(conflict => conflict.column('name').doNothing())
    .execute();
}

/** Locks a reader's row until the transaction ends and returns its position; undefined if another process holds the lock. */
export async function lockReader(trx: Db, name: string): Promise<Cursor | undefined> {
  const row = await trx
    .selectFrom('log_readers')
    .select(['xid', 'seq'])
    .where('name', '=', name)
    .forUpdate()
    .skipLocked()
    .executeTakeFirst();
  return row && { xid: BigInt(row.xid), seq: row.seq };
}

export interface RangeRow {
  readonly xid: string;
  readonly seq: number;
  readonly count: number;
}

/** Returns the range of the next events of all tenants below the horizon, at most `limit`; undefined if there are none. */
export async function findNextRange(
  trx: Db,
  after: Cursor,
  horizon: Cursor,
  limit: number,
): Promise<(LogRange & { readonly count: number }) | undefined> {
  const { rows } = await sql<RangeRow>`
    /* cross-tenant: reads positions only; the reader processes each tenant separately */
    select last.xid::text as xid, last.seq, last.count from (
      select e.xid, e.seq, row_number() over (order by e.xid, e.seq) as count from events e
      where ${isAfterPosition(after)} and ${isBeforePosition(horizon)}
      order by e.xid, e.seq limit ${limit}
    ) last order by last.count desc limit 1`.execute(trx);
  const [last] = rows;
  return last && { after, until: { xid: BigInt(last.xid), seq: last.seq }, count: last.count };
}

export async function saveReaderPosition(trx: Db, name: string, { xid, seq }: Cursor): Promise<void> {
  await trx
    .updateTable('log_readers')
    .set({ xid: String(xid), seq, moved_at: transactionTime })
    .where('name', '=', name)
    .execute();
}
