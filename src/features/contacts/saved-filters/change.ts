import { conflict, notFound } from '../../../core/errors.ts';
import { tenantOf } from '../../../core/principal.ts';
import { lockTenantUsage } from '../../../database/tenant-lock.ts';
import { refuseTaken } from '../../../database/violations.ts';
import type { Context } from '../../../schema/context.ts';
import { once, type WithKey } from '../../tenancy/idempotency/once.ts';
import {
  MAX_SAVED,
  parseSavedFilter,
  type SavedFilterFields,
  type SavedFilterInput,
  type SavedFilterRow,
} from './saved-filter.ts';
import {
  countSavedFilters,
  deleteSavedFilter,
  getSavedFilters,
  insertSavedFilter,
  updateSavedFilter,
} from './store.ts';

const withUniqueName = <Result>(work: () => Promise<Result>): Promise<Result> =>
  refuseTaken('saved_filters_name_key', { name: ['Another saved filter has this name.'] }, work);

/** @throws NOT_FOUND */
async function requireFilter(context: Context, id: number): Promise<SavedFilterRow> {
  const [row] = await getSavedFilters(context.db.write, tenantOf(context), [id]);
  if (!row) throw notFound('Saved filter');
  return row;
}

/** @throws VALIDATION_ERROR, CONFLICT (too many) */
export async function createSavedFilter(context: Context, input: WithKey<SavedFilterInput>): Promise<SavedFilterRow> {
  const tenantId = tenantOf(context);
  const fields = parseSavedFilter(tenantId, input, false) as SavedFilterFields;
  const keyed = { operation: 'createSavedFilter', key: input.idempotencyKey, input };
  return withUniqueName(() =>
    once(context, keyed, {
      run: async trx => {
        // Serialises creations, so that their limit is exact.
        await lockTenantUsage(trx, tenantId);
        if ((await countSavedFilters(trx, tenantId)) >= MAX_SAVED)
          throw conflict(`There may be at most ${MAX_SAVED} saved filters: delete one first.`);
        return insertSavedFilter(trx, tenantId, fields);
      },
      store: ({ id }) => ({ id }),
      rebuild: stored => requireFilter(context, (stored as { id: number }).id),
    }),
  );
}

/** Changes the given fields; campaigns that were made from it keep the filter that they have. @throws NOT_FOUND, VALIDATION_ERROR */
export async function changeSavedFilter(
  context: Context,
  id: number,
  input: WithKey<SavedFilterInput>,
): Promise<SavedFilterRow> {
  const tenantId = tenantOf(context);
  const fields = parseSavedFilter(tenantId, input, true);
  const keyed = { operation: 'updateSavedFilter', key: input.idempotencyKey, input: { ...input, id } };
  return withUniqueName(() =>
    once(context, keyed, {
      run: async trx => {
        const row = await updateSavedFilter(trx, tenantId, id, fields);
        if (!row) throw notFound('Saved filter');
        return row;
      },
      store: () => ({ id }),
      rebuild: () => requireFilter(context, id),
    }),
  );
}

/** @throws NOT_FOUND */
export const removeSavedFilter = (context: Context, id: number, idempotencyKey?: string | null): Promise<number> =>
  once(
    context,
    { operation: 'deleteSavedFilter', key: idempotencyKey, input: { id } },
    {
      run: async trx => {
        if (!(await deleteSavedFilter(trx, tenantOf(context), id))) throw notFound('Saved filter');
        return id;
      },
      store: () => ({ id }),
      rebuild: async () => id,
    },
  );
