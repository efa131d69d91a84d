import { compileOnce } from '../../../database/compile-once.ts';
import type { Db } from '../../../database/database.ts';
import { anyOf, transactionTime } from '../../../database/expressions.ts';
import type { TagRow } from './tag.ts';

export const TAG_COLUMNS = [
  'id',
  'name',
  'color',
  'created_at',
  'updated_at',
] as const satisfies readonly (keyof TagRow)[];

export const getTags = compileOnce((db, tenantId: number, ids: readonly number[]) =>
  db.selectFrom('tags').select(TAG_COLUMNS).where('tenant_id', '=', tenantId).where('id', '=', anyOf(ids)),
);

export const insertTag = (trx: Db, tenantId: number, fields: { name: string; color: string }): Promise<TagRow> =>
  trx
    .insertInto('tags')
    .values({ tenant_id: tenantId, ...fields })
    .returning(TAG_COLUMNS)
    .executeTakeFirstOrThrow();

export const updateTag = (
  trx: Db,
  tenantId: number,
  id: number,
  fields: { readonly name?: string; readonly color?: string },
): Promise<TagRow | undefined> =>
  trx
    .updateTable('tags')
    .set({ ...fields, updated_at: transactionTime })
    .where('tenant_id', '=', tenantId)
    .where('id', '=', id)
    .returning(TAG_COLUMNS)
    .executeTakeFirst();

/** Deletes a tag, and takes it from all conversations. @returns whether it existed */
export async function deleteTag(trx: Db, tenantId: number, id: number): Promise<boolean> {
  const { numDeletedRows } = await trx
    .deleteFrom('tags')
    .where('tenant_id', '=', tenantId)
    .where('id', '=', id)
    .executeTakeFirstOrThrow();
  return numDeletedRows > 0n;
}
