import { sql } from 'kysely';
import type { EventType } from '../../events.ts';
import type { Db } from '../../platform/database.ts';
import { behind } from './columns.ts';
import type { Cursor } from './cursor.ts';

export interface EventRow {
  readonly tenant_id: number;
  readonly id: string;
  readonly xid: string;
  readonly seq: number;
  readonly type: EventType;
  readonly payload: Readonly<Record<string, unknown>>;
  readonly occurred_at: string;
}

/** An event whose payload may have been left where it is: null. */
export type ReadRow = Omit<EventRow, 'payload'> & { readonly payload: EventRow['payload'] | null };

/** Columns are named with their table: a bare `order by xid` would sort the text that the select list makes of it. */
const HEAD = sql.raw('e.tenant_id, e.id, e.xid::text as xid, e.seq, e.type, e.occurred_at');

/** The place in the log before which nothing can appear any more: everything from here on will be read. */
export async function currentEnd(db: Db): Promise<Cursor> {
  const { rows } = await sql<{ xid: string }>`select pg_snapshot_xmin(pg_current_snapshot())::text as xid`.execute(db);
  // Nothing has been read of the oldest running transaction yet, so its first event comes next.
  return { xid: BigInt(rows[0]?.xid ?? '0'), seq: 0 };
}

/**
 * The next events of all tenants, in order. Only below the oldest running transaction: no event is skipped.
 * @param wanted whose payloads are read, and of which types; of all others only that they are there
 */
export async function readAll(
  db: Db,
  after: Cursor,
  limit: number,
  wanted: { readonly tenants: readonly number[]; readonly types: readonly EventType[] },
): Promise<ReadRow[]> {
  const { rows } = await sql<ReadRow>`
    /* cross-tenant: the tailer reads for every subscriber of the process, and hands each tenant its own */
    select ${HEAD}, case when e.tenant_id = any(${wanted.tenants}::bigint[]) and e.type = any(${wanted.types}::text[]) then e.payload end as payload
    from events e
    where ${behind(after)} and e.xid < pg_snapshot_xmin(pg_current_snapshot())
    order by e.xid, e.seq limit ${limit}`.execute(db);
  return rows;
}

/** The next events of one tenant, of these types. @param about only those whose payload has this id in this field of what stands under the key */
export async function readTenant(
  db: Db,
  tenantId: number,
  after: Cursor,
  types: readonly EventType[],
  limit: number,
  about?: { readonly key: string; readonly field: string; readonly id: string | number },
): Promise<EventRow[]> {
  const aboutIt = about
    ? sql`e.payload -> ${about.key}::text ->> ${about.field}::text = ${String(about.id)}`
    : sql`true`;
  const { rows } = await sql<EventRow>`
    select ${HEAD}, e.payload from events e
    where e.tenant_id = ${tenantId} and ${behind(after)}
      and e.xid < pg_snapshot_xmin(pg_current_snapshot()) and e.type = any(${types}::text[]) and ${aboutIt}
    order by e.xid, e.seq limit ${limit}`.execute(db);
  return rows;
}

/** Where an event stands, by its id. */
export async function findPosition(db: Db, tenantId: number, id: string): Promise<Cursor | undefined> {
  const { rows } = await sql<{ xid: string; seq: number }>`
    select xid::text as xid, seq from events where tenant_id = ${tenantId} and id = ${id}`.execute(db);
  return rows[0] && { xid: BigInt(rows[0].xid), seq: rows[0].seq };
}
