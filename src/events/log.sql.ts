import { type RawBuilder, sql } from 'kysely';
import type { EventType } from '../core/events.ts';
import type { Db } from '../database/database.ts';
import { oneText } from '../database/one-piece.ts';
import type { Cursor } from './cursor.ts';
import { type Facet, facetConditions } from './facets.sql.ts';

/** A range of the log: after `after`, up to and including `until`. */
export interface LogRange {
  readonly after: Cursor;
  readonly until: Cursor;
}

const position = ({ xid, seq }: Cursor): RawBuilder<unknown> => sql`(${String(xid)}::xid8, ${seq}::bigint)`;

/**
 * A position that the planner does not see, for statements that read the next events in order. Where its statistics list every transaction
 * of a young log, it expects no events after those: it read and sorted the million that had come since (1 to 4 s) for each page, until
 * autovacuum ran.
 */
const hidden = ({ xid, seq }: Cursor): RawBuilder<unknown> =>
  sql`((select ${String(xid)}::xid8), (select ${seq}::bigint))`;

/** Selects events (`e`) after a position. Used by every statement that reads the log in order, so that all use the same index. */
export const isAfterPosition = (after: Cursor): RawBuilder<boolean> => sql`(e.xid, e.seq) > ${hidden(after)}`;

/** Selects events (`e`) that are final: strictly before the horizon. */
export const isBeforePosition = (horizon: Cursor): RawBuilder<boolean> => sql`(e.xid, e.seq) < ${hidden(horizon)}`;

/** Selects the events (`e`) of a range. The planner sees its bounds, so that it expects few events. */
export const isInRange = ({ after, until }: LogRange): RawBuilder<boolean> =>
  sql`(e.xid, e.seq) > ${position(after)} and (e.xid, e.seq) <= ${position(until)}`;

export interface EventRow {
  readonly tenant_id: number;
  readonly id: string;
  readonly xid: string;
  readonly seq: number;
  readonly type: EventType;
  readonly contact_id: number | null;
  readonly conversation_id: number | null;
  readonly payload: Readonly<Record<string, unknown>>;
  readonly occurred_at: string;
}

/** An event whose payload was not read (null) if no one subscribed to it. */
export type ReadRow = Omit<EventRow, 'payload'> & { readonly payload: EventRow['payload'] | null };

export interface InsertedEvent {
  readonly tenantId: number;
  readonly id: string;
  readonly type: EventType;
  readonly payload: object;
  readonly contactId: number | null;
  readonly conversationId: number | null;
}

/** Inserts events in this order, which the sequence follows. */
export async function insertEvents(trx: Db, events: readonly InsertedEvent[]): Promise<void> {
  const column = <Name extends keyof InsertedEvent>(name: Name) => events.map(event => event[name]);
  const payloads = oneText(column('payload').map(payload => JSON.stringify(payload)));
  await sql`
    insert into events (tenant_id, id, type, payload, contact_id, conversation_id)
    select e.tenant_id, e.id, e.type,
      convert_from(substring((select convert_to(${payloads.text}::text, 'UTF8')) from e.stop - e.length + 1 for e.length), 'UTF8')::jsonb,
      e.contact_id, e.conversation_id
    from unnest(${column('tenantId')}::bigint[], ${column('id')}::uuid[], ${column('type')}::text[], ${payloads.ends}::integer[],
        ${payloads.lengths}::integer[], ${column('contactId')}::bigint[], ${column('conversationId')}::bigint[])
      with ordinality as e (tenant_id, id, type, stop, length, contact_id, conversation_id, position)
    order by e.position`.execute(trx);
}

/** Columns are qualified: a bare `order by xid` would sort by the text in the select list. */
const HEAD = sql.raw(
  'e.tenant_id, e.id, e.xid::text as xid, e.seq, e.type, e.contact_id, e.conversation_id, e.occurred_at',
);

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
    select * from read_events(${String(after.xid)}::xid8, ${after.seq}::bigint, ${String(horizon.xid)}::xid8, ${horizon.seq}::bigint,
      ${wanted.tenants}::bigint[], ${wanted.types}::text[], ${limit}::integer)`.execute(db);
  return rows;
}

/** Which events of a tenant are read. Bounds are excluded. */
export interface LogSelection {
  readonly types: readonly EventType[];
  readonly facets?: readonly Facet[];
  /** Undefined: from the beginning of the log. */
  readonly after: Cursor | undefined;
  /** At most the horizon. */
  readonly before: Cursor;
}

const selected = (tenantId: number, { types, facets = [], after, before }: LogSelection): RawBuilder<unknown> => {
  const conditions: RawBuilder<unknown>[] = [
    sql`e.tenant_id = ${tenantId} and ${isBeforePosition(before)} and e.type = any(${types}::text[])`,
    ...(after ? [isAfterPosition(after)] : []),
    ...facetConditions(facets),
  ];
  return sql.join(conditions, sql` and `);
};

/** Reads events of one tenant in order, or from the end. */
export async function readTenant(
  db: Db,
  tenantId: number,
  selection: LogSelection,
  limit: number,
  direction: 'asc' | 'desc' = 'asc',
): Promise<EventRow[]> {
  const to = sql.raw(direction);
  const { rows } = await sql<EventRow>`
    select ${HEAD}, e.payload from events e where ${selected(tenantId, selection)}
    order by e.xid ${to}, e.seq ${to} limit ${limit}`.execute(db);
  return rows;
}

/** Counts events of one tenant. */
export async function countTenant(db: Db, tenantId: number, selection: LogSelection): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    select count(*)::int as count from events e where ${selected(tenantId, selection)}`.execute(db);
  return rows[0]?.count ?? 0;
}

/** Reads events of one tenant by their ids. */
export async function readEvents(db: Db, tenantId: number, ids: readonly string[]): Promise<EventRow[]> {
  const { rows } = await sql<EventRow>`
    select ${HEAD}, e.payload from events e where e.tenant_id = ${tenantId} and e.id = any(${ids}::uuid[])`.execute(db);
  return rows;
}

/** The object of an event, by its key at a path of the payload. */
export interface SubjectRow {
  readonly xid: string;
  readonly seq: number;
  readonly type: EventType;
  readonly subject: string | null;
  /** Of an object of the same type that a merge has made part of this one: a contact, or a conversation. */
  readonly former_id: string | null;
}

/** Reads the objects of events, in the order of the log. @param paths the path of the key by type, for example `{contact,id}` */
export async function readSubjects(
  db: Db,
  tenantId: number,
  paths: ReadonlyMap<EventType, string>,
  after: Cursor,
  horizon: Cursor,
  limit: number,
): Promise<SubjectRow[]> {
  const [types, places] = [[...paths.keys()], [...paths.values()]];
  const { rows } = await sql<SubjectRow>`
    select e.xid::text as xid, e.seq, e.type, e.payload #>> ((${places}::text[])[array_position(${types}::text[], e.type)])::text[] as subject,
      coalesce(e.payload ->> 'former_id', e.payload #>> '{previous,id}') as former_id
    from events e where ${selected(tenantId, { types, after, before: horizon })}
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
