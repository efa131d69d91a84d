import type { Db } from '../../../database/database.ts';
import { requirePlan } from './create.ts';
import { type TenantChange, updateTenant } from './store.ts';

/**
 * Updates a tenant, in the caller's transaction. The limits of a new plan apply at once, also to what the month has used already: sends
 * read them when they count.
 * @throws UserError with the names of all plans
 */
export async function changeTenant(trx: Db, tenantId: number, change: TenantChange): Promise<void> {
  if (change.plan !== undefined) await requirePlan(trx, change.plan);
  await updateTenant(trx, tenantId, change);
}
