import type { Db } from '../../../database/database.ts';
import { anyIn, anyOf, transactionTime } from '../../../database/expressions.ts';
import { LIST_COLUMNS, type ListError, type ListMapping, MAX_LIST, type RecipientListRow } from './list-row.ts';

type Narrow = Pick<RecipientListRow, 'mapping'>;

export const getLists = (db: Db, tenantId: number, ids: readonly number[]): Promise<RecipientListRow[]> =>
  db
    .selectFrom('campaign_lists')
    .select(LIST_COLUMNS)
    .where('tenant_id', '=', tenantId)
    .where('id', '=', anyOf(ids))
    .$narrowType<Narrow>()
    .execute();

export const lockList = (trx: Db, tenantId: number, id: number): Promise<RecipientListRow | undefined> =>
  trx
    .selectFrom('campaign_lists')
    .select(LIST_COLUMNS)
    .where('tenant_id', '=', tenantId)
    .where('id', '=', id)
    .forUpdate()
    .$narrowType<Narrow>()
    .executeTakeFirst();

export const insertList = (
  trx: Db,
  tenantId: number,
  list: {
    readonly name: string;
    readonly columns: readonly string[];
    readonly mapping: ListMapping;
    readonly is_listed: boolean;
  },
): Promise<RecipientListRow> =>
  trx
    .insertInto('campaign_lists')
    .values({ tenant_id: tenantId, ...list, columns: [...list.columns], mapping: JSON.stringify(list.mapping) })
    .returning(LIST_COLUMNS)
    .$narrowType<Narrow>()
    .executeTakeFirstOrThrow();

/** Adds to the counts of a list. @param isListed whether it is shown among the uploaded ones from now on */
export const countRows = (
  trx: Db,
  tenantId: number,
  id: number,
  rows: number,
  errors: number,
  isListed: boolean,
): Promise<RecipientListRow> =>
  trx
    .updateTable('campaign_lists')
    .set(eb => ({
      row_count: eb('row_count', '+', rows),
      error_count: eb('error_count', '+', errors),
      ...(isListed && { is_listed: true }),
      updated_at: transactionTime,
    }))
    .where('tenant_id', '=', tenantId)
    .where('id', '=', id)
    .returning(LIST_COLUMNS)
    .$narrowType<Narrow>()
    .executeTakeFirstOrThrow();

/** The first errors of each list. */
export const getErrors = (db: Db, tenantId: number, listId: number): Promise<ListError[]> =>
  db
    .selectFrom('campaign_list_errors')
    .select(['row_number', 'message'])
    .where('tenant_id', '=', tenantId)
    .where('list_id', '=', listId)
    .orderBy('row_number')
    .limit(MAX_LIST.errors)
    .execute();

/** Keeps a list from being deleted until the transaction ends. @returns whether it is there */
export const holdList = async (trx: Db, tenantId: number, id: number): Promise<boolean> =>
  (await trx
    .selectFrom('campaign_lists')
    .select('id')
    .where('tenant_id', '=', tenantId)
    .where('id', '=', id)
    .forKeyShare()
    .executeTakeFirst()) !== undefined;

/** Rows that one statement deletes: a long list would exceed the time that a statement may take. */
const DELETED_ROWS = 10_000;

export async function deleteList(trx: Db, tenantId: number, id: number): Promise<void> {
  for (let count = DELETED_ROWS; count === DELETED_ROWS; ) {
    const { numDeletedRows } = await trx
      .deleteFrom('campaign_list_rows')
      .where('tenant_id', '=', tenantId)
      .where('id', '=', eb =>
        anyIn(
          eb
            .selectFrom('campaign_list_rows')
            .select('id')
            .where('tenant_id', '=', tenantId)
            .where('list_id', '=', id)
            .limit(DELETED_ROWS),
        ),
      )
      .executeTakeFirstOrThrow();
    count = Number(numDeletedRows);
  }
  await trx.deleteFrom('campaign_lists').where('tenant_id', '=', tenantId).where('id', '=', id).execute();
}
