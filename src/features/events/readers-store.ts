import { sql } from 'kysely';
import type { Db } from '../../platform/database.ts';
import { behind, type Stretch } from './columns.ts';
import type { Cursor } from './cursor.ts';

/** Enters a reader that is new: it begins with what happens from now on. */
export async function enterReader(db: Db, name: string): Promise<void> {
  await sql`
    insert into log_readers (name, xid, seq) values (${name}, pg_snapshot_xmin(pg_current_snapshot()), 0)
    on conflict (name) do nothing`.execute(db);
}

/** Where a reader stands, its row locked until the transaction ends; undefined while another process reads for it. */
export async function lockReader(trx: Db, name: string): Promise<Cursor | undefined> {
  const { rows } = await sql<{ xid: string; seq: number }>`
    select xid::text as xid, seq from log_readers where name = ${name} for update skip locked`.execute(trx);
  return rows[0] && { xid: BigInt(rows[0].xid), seq: rows[0].seq };
}

/** The next events of all tenants up to `limit`, as a stretch; undefined when there are none. Below the oldest running transaction alone, as every reading of the log. */
export async function nextStretch(
  trx: Db,
  after: Cursor,
  limit: number,
): Promise<(Stretch & { readonly count: number }) | undefined> {
  const { rows } = await sql<{ xid: string; seq: number; count: number }>`
    /* cross-tenant: only places, for a reader that takes its part by tenant */
    select last.xid::text as xid, last.seq, last.count from (
      select e.xid, e.seq, row_number() over (order by e.xid, e.seq) as count from events e
      where ${behind(after)} and e.xid < pg_snapshot_xmin(pg_current_snapshot())
      order by e.xid, e.seq limit ${limit}
    ) last order by last.count desc limit 1`.execute(trx);
  const [last] = rows;
  return last && { after, until: { xid: BigInt(last.xid), seq: last.seq }, count: last.count };
}

export async function moveReader(trx: Db, name: string, { xid, seq }: Cursor): Promise<void> {
  await sql`
    update log_readers set xid = ${String(xid)}::xid8, seq = ${seq}, moved_at = now() where name = ${name}`.execute(
    trx,
  );
}
