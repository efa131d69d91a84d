import { type RawBuilder, sql } from 'kysely';
import type { EventType } from '../core/events.ts';
import type { Db } from '../database/database.ts';
import type { Cursor } from './cursor.ts';

/** A range of the log: after `after`, up to and including `until`. */
export interface LogRange {
  readonly after: Cursor;
  readonly until: Cursor;
}

const position = ({ xid, seq }: Cursor): RawBuilder<unknown> => sql`(${String(xid)}::xid8, ${seq}::bigint)`;

/** Selects events (`e`) after a position. Used by every statement that reads the log in order, so that all use the same index. */
export const isAfterPosition = (after: Cursor): RawBuilder<boolean> => sql`(e.xid, e.seq) > ${position(after)}`;

/** Selects events (`e`) that are final: strictly before the horizon. */
export const isBeforePosition = (horizon: Cursor): RawBuilder<boolean> => sql`(e.xid, e.seq) < ${position(horizon)}`;

/** Selects the events (`e`) of a range. */
export const isInRange = ({ after, until }: LogRange): RawBuilder<boolean> =>
  sql`${isAfterPosition(after)} and (e.xid, e.seq) <= ${position(until)}`;

export interface EventRow {
  readonly tenant_id: number;
  readonly id: string;
  readonly xid: string;
  readonly seq: number;
  readonly type: EventType;
  readonly payload: Readonly<Record<string, unknown>>;
  readonly occurred_at: string;
}

/** An event whose payload was not read (null) if no one subscribed to it. */
export type ReadRow = Omit<EventRow, 'payload'> & { readonly payload: EventRow['payload'] | null };

/** Columns are qualified: a bare `order by xid` would sort by the text in the select list. */
const HEAD = sql.raw('e.tenant_id, e.id, e.xid::text as xid, e.seq, e.type, e.occurred_at');

/**
 * Reads the next events of all tenants, in order, below the horizon.
 * @param wanted tenants and types whose payloads are read; other events come without payload
 */
export async function readAll(
  db: Db,
  after: Cursor,
  horizon: Cursor,
  limit: number,
  wanted: { readonly tenants: readonly number[]; readonly types: readonly EventType[] },
): Promise<ReadRow[]> {
  const { rows } = await sql<ReadRow>`
    /* cross-tenant: the tailer reads for all subscribers of the process; the bus gives each tenant its own events */
    select ${HEAD}, case when e.tenant_id = any(${wanted.tenants}::bigint[]) and e.type = any(${wanted.types}::text[]) then e.payload end as payload
    from events e
    where ${isAfterPosition(after)} and ${isBeforePosition(horizon)}
    order by e.xid, e.seq limit ${limit}`.execute(db);
  return rows;
}

/** Reads the next events of one tenant, of these types, below the horizon. @param about restricts them to one object */
export async function readTenant(
  db: Db,
  tenantId: number,
  after: Cursor,
  horizon: Cursor,
  types: readonly EventType[],
  limit: number,
  about?: { readonly key: string; readonly field: string; readonly id: string | number },
): Promise<EventRow[]> {
  const aboutIt = about
    ? sql`e.payload -> ${about.key}::text ->> ${about.field}::text = ${String(about.id)}`
    : sql`true`;
  const { rows } = await sql<EventRow>`
    select ${HEAD}, e.payload from events e
    where e.tenant_id = ${tenantId} and ${isAfterPosition(after)} and ${isBeforePosition(horizon)}
      and e.type = any(${types}::text[]) and ${aboutIt}
    order by e.xid, e.seq limit ${limit}`.execute(db);
  return rows;
}

/** Finds the position of an event by its id. */
export async function findPosition(db: Db, tenantId: number, id: string): Promise<Cursor | undefined> {
  const row = await db
    .selectFrom('events')
    .select(['xid', 'seq'])
    .where('tenant_id', '=', tenantId)
    .where('id', '=', id)
    .executeTakeFirst();
  return row && { xid: BigInt(row.xid), seq: row.seq };
}
