import { conflict, notFound } from '../../../core/errors.ts';
import { tenantOf } from '../../../core/principal.ts';
import type { Context } from '../../../schema/context.ts';
import { once } from '../../tenancy/idempotency/once.ts';
import { deleteList } from './store.ts';
import { isListUsed } from './used.sql.ts';

/** Deletes a list. Its people remain contacts. @throws NOT_FOUND; CONFLICT while a campaign that is not over uses it */
export const removeList = (context: Context, id: number, idempotencyKey: string | null | undefined): Promise<void> =>
  once<void>(
    context,
    { operation: 'deleteRecipientList', key: idempotencyKey, input: { id } },
    {
      run: async trx => {
        if (await isListUsed(trx, tenantOf(context), id)) throw conflict('A campaign that is not over uses this list.');
        if (!(await deleteList(trx, tenantOf(context), id))) throw notFound('RecipientList');
      },
      store: () => ({ id }),
      again: async () => undefined,
    },
  );
