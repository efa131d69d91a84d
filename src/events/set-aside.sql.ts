import { sql } from 'kysely';
import type { Db } from '../database/database.ts';
import type { Cursor } from './cursor.ts';
import { isAfterPosition, isInRange, type LogRange } from './log.sql.ts';

/** Keeps the events of a range for an operator, with the error by which a reader could not consume them. */
export async function storeSetAside(trx: Db, reader: string, range: LogRange, error: string): Promise<SetAsideKey[]> {
  const { rows } = await sql<SetAsideKey>`
    /* cross-tenant: the log is read for all tenants at once; each row keeps its own */
    insert into log_set_aside (tenant_id, event_id, reader, error)
    select e.tenant_id, e.id, ${reader}, ${error} from events e where ${isInRange(range)}
    on conflict (tenant_id, event_id, reader) do update set error = excluded.error
    returning tenant_id, event_id, reader`.execute(trx);
  return rows;
}

export interface SetAsideKey {
  readonly tenant_id: number;
  readonly event_id: string;
  readonly reader: string;
}

export interface SetAsideRow extends SetAsideKey {
  readonly set_aside_at: string;
  readonly error: string;
  /** Null if the event is no longer in the log. */
  readonly type: string | null;
}

export interface PositionRow {
  readonly xid: string;
  readonly seq: number;
}

/**
 * Finds an event after one of a tenant: the first of another tenant among the next 5,000, because a lock or a size by which one event
 * fails is often common to all of its tenant; otherwise the next one. It may be above the horizon, so its consumption has to be undone:
 * with a second bound the planner expected too few events to read them in order, and read all.
 */
export async function findOtherEvent(trx: Db, after: Cursor, tenantId: number): Promise<Cursor | undefined> {
  const { rows } = await sql<PositionRow>`
    /* cross-tenant: reads positions only, of all tenants */
    select next.xid::text as xid, next.seq from (
      select e.tenant_id, e.xid, e.seq from events e where ${isAfterPosition(after)} order by e.xid, e.seq limit 5000
    ) next
    order by next.tenant_id = ${tenantId}, next.xid, next.seq limit 1`.execute(trx);
  const [row] = rows;
  return row && { xid: BigInt(row.xid), seq: row.seq };
}

/** Lists the events that are set aside, oldest first. */
export async function listSetAside(db: Db): Promise<SetAsideRow[]> {
  const { rows } = await sql<SetAsideRow>`
    /* cross-tenant: an operator sees all tenants */
    select s.set_aside_at, s.reader, s.tenant_id, s.event_id, e.type, s.error
    from log_set_aside s
    left join events e on e.tenant_id = s.tenant_id and e.id = s.event_id
    order by s.set_aside_at, s.tenant_id, s.event_id, s.reader`.execute(db);
  return rows;
}

/** Removes an event from those set aside. @returns whether it was among them; another transaction may have removed it */
export async function removeSetAside(trx: Db, { tenant_id, event_id, reader }: SetAsideKey): Promise<boolean> {
  const { numDeletedRows } = await trx
    .deleteFrom('log_set_aside')
    .where('tenant_id', '=', tenant_id)
    .where('event_id', '=', event_id)
    .where('reader', '=', reader)
    .executeTakeFirst();
  return numDeletedRows > 0n;
}

/** How far a reader has come. */
export interface ReaderStatusRow {
  readonly name: string;
  /** Age of the oldest event that it has not consumed; 0 if there is none. */
  readonly lag_seconds: number;
  readonly set_aside: number;
}

/** Returns the status of each reader of the log. */
export async function readReaderStatus(db: Db): Promise<ReaderStatusRow[]> {
  const { rows } = await sql<ReaderStatusRow>`
    /* cross-tenant: readers read the log for all tenants at once */
    select r.name, coalesce(greatest(0, extract(epoch from clock_timestamp() - n.occurred_at)), 0)::float8 as lag_seconds,
      (select count(*)::int from log_set_aside s where s.reader = r.name) as set_aside
    from log_readers r
    left join lateral (
      select e.occurred_at from events e where (e.xid, e.seq) > (r.xid, r.seq) order by e.xid, e.seq limit 1) n on true
    order by r.name`.execute(db);
  return rows;
}

/** Locks a reader's row until the transaction ends, after any transaction that holds it: only one consumes for a reader at a time. */
export async function waitForReader(trx: Db, name: string): Promise<void> {
  await trx.selectFrom('log_readers').select('name').where('name', '=', name).forUpdate().execute();
}

/** Blanks the errors of events about erased contacts: they may quote a value. */
export async function blankSetAside(trx: Db, tenantId: number, eventIds: readonly string[]): Promise<void> {
  await trx
    .updateTable('log_set_aside')
    .set({ error: '' })
    .where('tenant_id', '=', tenantId)
    .where('event_id', '=', sql<string>`any(${eventIds}::uuid[])`)
    .execute();
}
