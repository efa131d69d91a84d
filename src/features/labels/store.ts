import { sql } from 'kysely';
import type { Db } from '../../platform/database.ts';
import { raw } from '../../platform/raw-query.ts';
import type { ListStatement } from '../lists/list.ts';
import { LABELS, type LabelFields, type LabelKind, type LabelRow } from './label.ts';

declare module '../../platform/database.ts' {
  interface Tables {
    groups: LabelTable;
    sources: LabelTable;
    statuses: LabelTable;
    contact_groups: { tenant_id: number; contact_id: number; group_id: number };
  }
}
type LabelTable = LabelRow & { tenant_id: number };

const table = (kind: LabelKind) => sql.table(LABELS[kind].table);
const columns = (kind: LabelKind) => sql.raw(LABELS[kind].columns.join(', '));

export async function getLabels(
  db: Db,
  tenantId: number,
  kind: LabelKind,
  ids: readonly number[],
): Promise<LabelRow[]> {
  const { rows } = await sql<LabelRow>`
    select ${columns(kind)} from ${table(kind)} where tenant_id = ${tenantId} and id = any(${ids}::bigint[])`.execute(
    db,
  );
  return rows;
}

/**
 * The groups that have these names, whatever the case, with the place of each name. They stay until the transaction ends;
 * others may change their members and names meanwhile.
 */
export async function holdGroupsByName(
  trx: Db,
  tenantId: number,
  names: readonly string[],
): Promise<{ readonly id: number; readonly place: number }[]> {
  const { rows } = await sql<{ id: number; place: number }>`
    select g.id, (w.position - 1)::int as place
    from unnest(${names}::text[]) with ordinality as w (name, position)
    join groups g on g.tenant_id = ${tenantId} and lower(g.name) = lower(w.name)
    order by g.id for key share of g`.execute(trx);
  return rows;
}

/** @returns the new rows in the order given; a name that the tenant has already is left out */
export async function insertLabels(
  trx: Db,
  tenantId: number,
  kind: LabelKind,
  labels: readonly LabelFields[],
): Promise<LabelRow[]> {
  const names = labels.map(label => label.name);
  const extra = kind === 'status' ? sql.raw(', color') : sql.raw('');
  const value = kind === 'status' ? sql`, coalesce(color, '#757575')` : sql``;
  const { rows } = await sql<LabelRow>`
    insert into ${table(kind)} (tenant_id, name${extra})
    select ${tenantId}::bigint, name${value}
    from unnest(${names}::text[], ${labels.map(label => label.color ?? null)}::text[]) with ordinality as l (name, color, position)
    order by position
    on conflict (tenant_id, lower(name)) do nothing
    returning ${columns(kind)}`.execute(trx);
  return rows;
}

export async function updateLabel(
  trx: Db,
  tenantId: number,
  kind: LabelKind,
  id: number,
  fields: LabelFields,
): Promise<LabelRow | undefined> {
  const color = kind === 'status' ? sql`, color = coalesce(${fields.color ?? null}, color)` : sql``;
  const { rows } = await sql<LabelRow>`
    update ${table(kind)} set name = coalesce(${fields.name ?? null}, name), updated_at = now()${color}
    where tenant_id = ${tenantId} and id = ${id}
    returning ${columns(kind)}`.execute(trx);
  return rows[0];
}

/**
 * Locks those of the labels that are there, so that no contact can begin to use one of them before the transaction ends.
 * In the order of their ids: two who lock several of the same do not wait for each other.
 */
export async function lockLabels(
  trx: Db,
  tenantId: number,
  kind: LabelKind,
  ids: readonly number[],
): Promise<LabelRow[]> {
  const { rows } = await sql<LabelRow>`
    select ${columns(kind)} from ${table(kind)} where tenant_id = ${tenantId} and id = any(${ids}::bigint[]) order by id for update`.execute(
    trx,
  );
  return rows;
}

/** A group that stays until the transaction ends; others may change its members and its name meanwhile. */
export async function holdGroup(trx: Db, tenantId: number, id: number): Promise<LabelRow[]> {
  const { rows } = await sql<LabelRow>`
    select ${columns('group')} from groups where tenant_id = ${tenantId} and id = ${id} for key share`.execute(trx);
  return rows;
}

/** Fails with a foreign key violation when a contact still uses one of them. */
export async function deleteLabels(
  trx: Db,
  tenantId: number,
  kind: LabelKind,
  ids: readonly number[],
): Promise<LabelRow[]> {
  const { rows } = await sql<LabelRow>`
    delete from ${table(kind)} where tenant_id = ${tenantId} and id = any(${ids}::bigint[]) returning ${columns(kind)}`.execute(
    trx,
  );
  return rows;
}

/** Those of the ids that a contact of the tenant still uses. */
export async function labelsInUse(
  db: Db,
  tenantId: number,
  kind: 'source' | 'status',
  ids: readonly number[],
): Promise<number[]> {
  const column = sql.raw(kind === 'source' ? 'source_id' : 'status_id');
  const { rows } = await sql<{ id: number }>`
    select l.id from unnest(${ids}::bigint[]) as l (id)
    where exists (select from contacts c where c.tenant_id = ${tenantId} and c.${column} = l.id)`.execute(db);
  return rows.map(row => row.id);
}

export async function listLabels(
  db: Db,
  columns: readonly (keyof LabelRow)[],
  statement: ListStatement,
): Promise<LabelRow[]> {
  const select = [...columns.map(column => `l.${column}`), ...statement.keys].join(', ');
  const { rows } = await db.executeQuery(raw<LabelRow>(`select ${select} ${statement.tail}`, statement.values));
  return rows;
}

/** How many contacts each group has. */
export async function countMembers(
  db: Db,
  tenantId: number,
  groupIds: readonly number[],
): Promise<Map<number, number>> {
  const { rows } = await sql<{ group_id: number; members: number }>`
    select group_id, count(*) as members from contact_groups
    where tenant_id = ${tenantId} and group_id = any(${groupIds}::bigint[]) group by group_id`.execute(db);
  return new Map(rows.map(row => [row.group_id, row.members]));
}

/** Puts contacts into a group; ids that are no contact of the tenant are passed over. @returns how many are new there */
export async function addMembers(
  trx: Db,
  tenantId: number,
  groupId: number,
  contactIds: readonly number[],
): Promise<number> {
  const { rows } = await sql`
    insert into contact_groups (tenant_id, contact_id, group_id)
    select tenant_id, id, ${groupId}::bigint from contacts where tenant_id = ${tenantId} and id = any(${contactIds}::bigint[])
    on conflict do nothing returning contact_id`.execute(trx);
  return rows.length;
}

export async function removeMembers(
  trx: Db,
  tenantId: number,
  groupId: number,
  contactIds: readonly number[],
): Promise<number> {
  const { rows } = await sql`
    delete from contact_groups
    where tenant_id = ${tenantId} and group_id = ${groupId} and contact_id = any(${contactIds}::bigint[]) returning contact_id`.execute(
    trx,
  );
  return rows.length;
}

/** The ids among these that are contacts of the tenant, and stay so until the transaction ends. */
export async function holdContacts(trx: Db, tenantId: number, ids: readonly number[]): Promise<Set<number>> {
  const { rows } = await sql<{ id: number }>`
    select id from contacts where tenant_id = ${tenantId} and id = any(${ids}::bigint[]) order by id for key share`.execute(
    trx,
  );
  return new Set(rows.map(row => row.id));
}
