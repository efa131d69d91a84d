import type { Db } from '../../../database/database.ts';
import { reshareMonth } from '../usage/share.ts';
import { requirePlan } from './create.ts';
import { type TenantChange, updateTenant } from './store.ts';

/**
 * Updates a tenant, in the caller's transaction. The limits of a new plan apply at once, also to what the month has used already.
 * @param month first day of the current month
 * @throws UserError with the names of all plans
 */
export async function changeTenant(trx: Db, tenantId: number, change: TenantChange, month: string): Promise<void> {
  if (change.plan !== undefined) await requirePlan(trx, change.plan);
  await updateTenant(trx, tenantId, change);
  if (change.plan !== undefined) await reshareMonth(trx, tenantId, month);
}
