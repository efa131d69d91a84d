import type { Db } from '../../../database/database.ts';
import { anyOf, transactionTime } from '../../../database/expressions.ts';
import type { SavedFilterFields, SavedFilterRow } from './saved-filter.ts';

export const SAVED_FILTER_COLUMNS = [
  'id',
  'name',
  'filter',
  'created_at',
  'updated_at',
] as const satisfies readonly (keyof SavedFilterRow)[];

type Typed = Pick<SavedFilterRow, 'filter'>;

export const getSavedFilters = (db: Db, tenantId: number, ids: readonly number[]): Promise<SavedFilterRow[]> =>
  db
    .selectFrom('saved_filters')
    .select(SAVED_FILTER_COLUMNS)
    .where('tenant_id', '=', tenantId)
    .where('id', '=', anyOf(ids))
    .$narrowType<Typed>()
    .execute();

export async function countSavedFilters(trx: Db, tenantId: number): Promise<number> {
  const { count } = await trx
    .selectFrom('saved_filters')
    .select(eb => eb.fn.countAll<number>().as('count'))
    .where('tenant_id', '=', tenantId)
    .executeTakeFirstOrThrow();
  return Number(count);
}

export const insertSavedFilter = (
  trx: Db,
  tenantId: number,
  { name, filter }: SavedFilterFields,
): Promise<SavedFilterRow> =>
  trx
    .insertInto('saved_filters')
    .values({ tenant_id: tenantId, name, filter: JSON.stringify(filter) })
    .returning(SAVED_FILTER_COLUMNS)
    .$narrowType<Typed>()
    .executeTakeFirstOrThrow();

export const updateSavedFilter = (
  trx: Db,
  tenantId: number,
  id: number,
  { name, filter }: Partial<SavedFilterFields>,
): Promise<SavedFilterRow | undefined> =>
  trx
    .updateTable('saved_filters')
    .set({
      ...(name !== undefined && { name }),
      ...(filter && { filter: JSON.stringify(filter) }),
      updated_at: transactionTime,
    })
    .where('tenant_id', '=', tenantId)
    .where('id', '=', id)
    .returning(SAVED_FILTER_COLUMNS)
    .$narrowType<Typed>()
    .executeTakeFirst();

/** @returns whether it existed */
export async function deleteSavedFilter(trx: Db, tenantId: number, id: number): Promise<boolean> {
  const { numDeletedRows } = await trx
    .deleteFrom('saved_filters')
    .where('tenant_id', '=', tenantId)
    .where('id', '=', id)
    .executeTakeFirstOrThrow();
  return numDeletedRows > 0n;
}
