import { sql } from 'kysely';
import { compileOnce } from '../../../database/compile-once.ts';
import type { Db } from '../../../database/database.ts';
import { anyByKey, anyIn, anyOf, bigints, transactionTime, unnest } from '../../../database/expressions.ts';
import type { ListStatement } from '../../../database/list.ts';
import { raw } from '../../../database/statements.ts';
import { currentContactId } from '../columns.ts';
import { LABELS, type LabelFields, type LabelKind, type LabelRow } from './label.ts';

/** Typed as `statuses`, which has all columns of the three tables. */
const table = (kind: LabelKind) => LABELS[kind].table as 'statuses';

const selectLabels = (kind: LabelKind) =>
  compileOnce((db, tenantId: number, ids: readonly number[]) =>
    db
      .selectFrom(table(kind))
      .select(LABELS[kind].columns)
      .where('tenant_id', '=', tenantId)
      .where('id', '=', anyOf(ids)),
  );

const SELECT = { group: selectLabels('group'), source: selectLabels('source'), status: selectLabels('status') };

export const getLabels = (db: Db, tenantId: number, kind: LabelKind, ids: readonly number[]): Promise<LabelRow[]> =>
  SELECT[kind](db, tenantId, ids);

/** Finds a label by its name, ignoring case, or by its id. */
export const findLabel = (
  db: Db,
  tenantId: number,
  kind: LabelKind,
  nameOrId: string,
): Promise<{ readonly id: number } | undefined> =>
  db
    .selectFrom(table(kind))
    .select('id')
    .where('tenant_id', '=', tenantId)
    .where(eb =>
      eb.or([
        eb(eb.fn<string>('lower', ['name']), '=', eb.fn<string>('lower', [eb.val(nameOrId)])),
        eb(eb.cast<string>('id', 'text'), '=', nameOrId),
      ]),
    )
    .executeTakeFirst();

/** Sets the fields that are given. */
export const updateLabel = (
  trx: Db,
  tenantId: number,
  kind: LabelKind,
  id: number,
  { name, color }: LabelFields,
): Promise<LabelRow | undefined> =>
  trx
    .updateTable(table(kind))
    .set({ name, ...(kind === 'status' && { color }), updated_at: transactionTime })
    .where('tenant_id', '=', tenantId)
    .where('id', '=', id)
    .returning(LABELS[kind].columns)
    .executeTakeFirst();

/**
 * Locks labels, so that no contact starts to use one of them before the transaction ends. Lock order: by id, to avoid deadlocks.
 * @returns the labels that exist
 */
export const lockLabels = (trx: Db, tenantId: number, kind: LabelKind, ids: readonly number[]): Promise<LabelRow[]> =>
  trx
    .selectFrom(table(kind))
    .select(LABELS[kind].columns)
    .where('tenant_id', '=', tenantId)
    .where('id', '=', anyOf(ids))
    .orderBy('id')
    .forUpdate()
    .execute();

/** Locks a group against deletion; its members and its name may change meanwhile. */
export const lockGroup = (trx: Db, tenantId: number, id: number): Promise<LabelRow | undefined> =>
  trx
    .selectFrom('groups')
    .select(['id', 'name', 'created_at', 'updated_at'])
    .where('tenant_id', '=', tenantId)
    .where('id', '=', id)
    .forKeyShare()
    .executeTakeFirst();

/** @throws a foreign key violation if a contact still uses one of them */
export const deleteLabels = (trx: Db, tenantId: number, kind: LabelKind, ids: readonly number[]): Promise<LabelRow[]> =>
  trx
    .deleteFrom(table(kind))
    .where('tenant_id', '=', tenantId)
    .where('id', '=', anyOf(ids))
    .returning(LABELS[kind].columns)
    .execute();
export async function listLabels(
  db: Db,
  columns: readonly (keyof LabelRow)[],
  statement: ListStatement,
): Promise<LabelRow[]> {
  const select = [...columns.map(column => `l.${column}`), ...statement.keys].join(', ');
  const { rows } = await db.executeQuery(raw<LabelRow>(`select ${select} ${statement.tail}`, statement.values));
  return rows;
}

const selectMemberCounts = compileOnce((db, tenantId: number, groupIds: readonly number[]) =>
  db
    .selectFrom('contact_groups')
    .select(({ fn }) => ['group_id', fn.countAll<number>().as('members')])
    .where('tenant_id', '=', tenantId)
    .where('group_id', '=', anyOf(groupIds))
    .groupBy('group_id'),
);

/** The number of contacts in each group. */
export async function countMembers(
  db: Db,
  tenantId: number,
  groupIds: readonly number[],
): Promise<Map<number, number>> {
  const rows = await selectMemberCounts(db, tenantId, groupIds);
  return new Map(rows.map(row => [row.group_id, row.members]));
}

/** Adds contacts to a group; ids that do not exist in the tenant are ignored. @returns the number of new members */
export async function addMembers(
  trx: Db,
  tenantId: number,
  groupId: number,
  contactIds: readonly number[],
): Promise<number> {
  const rows = await trx
    .insertInto('contact_groups')
    .columns(['tenant_id', 'contact_id', 'group_id'])
    .expression(db =>
      db
        .selectFrom('contacts')
        .select(eb => ['tenant_id', 'id', eb.cast<number>(eb.val(groupId), 'bigint').as('group_id')])
        .where('tenant_id', '=', tenantId)
        .where('id', '=', anyByKey(contactIds)),
    )
    .onConflict(conflict => conflict.doNothing())
    .returning('contact_id')
    .execute();
  return rows.length;
}

/** Removes contacts from a group. Ids of merged contacts resolve to the survivor. @returns the number of removed members */
export async function removeMembers(
  trx: Db,
  tenantId: number,
  groupId: number,
  contactIds: readonly number[],
): Promise<number> {
  const currentIds = trx
    .selectFrom(unnest('r', { id: bigints(contactIds) }))
    .select(currentContactId(tenantId, 'r.id').as('id'));
  const rows = await trx
    .deleteFrom('contact_groups')
    .where('tenant_id', '=', tenantId)
    // + 0: otherwise PostgreSQL 15 reads all members of the group, by its index.
    .where(sql<number>`group_id + 0`, '=', groupId)
    .where('contact_id', '=', anyIn(currentIds))
    .returning('contact_id')
    .execute();
  return rows.length;
}

/**
 * Locks contacts against deletion and merging until the transaction ends. Ids of merged contacts resolve to the survivor.
 * @returns the current id by requested id, for those that exist
 */
export async function lockExistingContacts(
  trx: Db,
  tenantId: number,
  ids: readonly number[],
): Promise<Map<number, number>> {
  const rows = await trx
    .with(
      cte => cte('w').materialized(),
      db =>
        db
          .selectFrom(unnest('r', { id: bigints(ids) }))
          .select('r.id as requested_id')
          .select(currentContactId(tenantId, 'r.id').as('id')),
    )
    .selectFrom('w')
    .innerJoin('contacts as c', join => join.on('c.tenant_id', '=', tenantId).onRef('c.id', '=', 'w.id'))
    // By key: without statistics, a join alone reads all contacts of the tenant.
    .where('c.id', '=', eb => anyIn(eb.selectFrom('w as l').select('l.id')))
    .select(['w.requested_id', 'c.id'])
    .orderBy('c.id')
    .forKeyShare('c')
    .execute();
  return new Map(rows.map(row => [row.requested_id, row.id]));
}
