import { sql } from 'kysely';
import type { Db } from '../../../database/database.ts';
import { LABELS, type LabelFields, type LabelKind, type LabelRow } from './label.ts';

/**
 * Finds groups by name, ignoring case, and locks them against deletion; their members and names may change meanwhile.
 * @returns ids with the position of each name
 */
export async function lockGroupsByName(
  trx: Db,
  tenantId: number,
  names: readonly string[],
): Promise<{ readonly id: number; readonly position: number }[]> {
  const { rows } = await sql<{ id: number; position: number }>`
    select g.id, (w.position - 1)::int as position
    from unnest(${names}::text[]) with ordinality as w (name, position)
    join groups g on g.tenant_id = ${tenantId} and lower(g.name) = lower(w.name)
    order by g.id for key share of g`.execute(trx);
  return rows;
}

/** @returns the new rows in the order given, without names that the tenant already has */
export async function insertLabels(
  trx: Db,
  tenantId: number,
  kind: LabelKind,
  labels: readonly LabelFields[],
): Promise<LabelRow[]> {
  const names = labels.map(label => label.name);
  const colors = labels.map(label => label.color ?? null);
  const [column, value] = kind === 'status' ? [sql`, color`, sql`, coalesce(color, '#757575')`] : [sql``, sql``];
  const { rows } = await sql<LabelRow>`
    insert into ${sql.table(LABELS[kind].table)} (tenant_id, name${column})
    select ${tenantId}::bigint, name${value}
    from unnest(${names}::text[], ${colors}::text[]) with ordinality as l (name, color, position)
    order by position
    on conflict (tenant_id, lower(name)) do nothing
    returning ${sql.raw(LABELS[kind].columns.join(', '))}`.execute(trx);
  return rows;
}
