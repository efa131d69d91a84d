import { FieldErrorList } from '../../../core/errors.ts';
import type { Db } from '../../../database/database.ts';
import { checkTenantName, requirePlan } from './create.ts';
import { type TenantChange, updateTenant } from './store.ts';

/**
 * Updates a tenant, in the caller's transaction. The limits of a new plan apply at once, including to this month's usage: sends read
 * them when they count.
 * @throws VALIDATION_ERROR by field
 */
export async function changeTenant(trx: Db, tenantId: number, change: TenantChange): Promise<void> {
  const { name, plan } = change;
  const errors = new FieldErrorList();
  if (name !== undefined) checkTenantName(name, errors);
  if (plan !== undefined) await errors.collect(() => requirePlan(trx, plan));
  errors.throwIfAny();
  await updateTenant(trx, tenantId, change);
}
