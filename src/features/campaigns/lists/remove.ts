import { conflict, notFound } from '../../../core/errors.ts';
import { tenantOf } from '../../../core/principal.ts';
import type { Db } from '../../../database/database.ts';
import type { Context } from '../../../schema/context.ts';
import { once } from '../../tenancy/idempotency/once.ts';
import { isListUsed } from './list-usage.sql.ts';
import { deleteList, lockList } from './store.ts';

/** Deletes a list. Its people remain contacts. @throws NOT_FOUND; CONFLICT while a campaign that is not over uses it */
export const removeList = (context: Context, id: number, idempotencyKey: string | null | undefined): Promise<void> =>
  once<void>(
    context,
    { operation: 'deleteRecipientList', key: idempotencyKey, input: { id } },
    {
      run: async trx => {
        const outcome = await removeUnused(trx, tenantOf(context), id);
        if (outcome === 'used') throw conflict('A campaign that is not over uses this list.');
        if (outcome === 'gone') throw notFound('RecipientList');
      },
      store: () => ({ id }),
      rebuild: async () => undefined,
    },
  );

/** Deletes a list unless a campaign that is not over uses it. A campaign that is being created with it is waited for. */
export async function removeUnused(trx: Db, tenantId: number, id: number): Promise<'deleted' | 'used' | 'gone'> {
  if (!(await lockList(trx, tenantId, id))) return 'gone';
  // After the lock, by a statement of its own, which sees the campaign that had it.
  if (await isListUsed(trx, tenantId, id)) return 'used';
  await deleteList(trx, tenantId, id);
  return 'deleted';
}
