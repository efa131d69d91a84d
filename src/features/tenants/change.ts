import type { Db } from '../../platform/database.ts';
import { reshareMonth } from '../usage/share.ts';
import { requirePlan } from './create.ts';
import { type TenantChange, updateTenant } from './store.ts';

/**
 * Changes a tenant, in the caller's transaction. Another plan counts from here on: contacts and staff against its maximum, and what the
 * month has already used against its month.
 * @param month the current one, by its first day
 * @throws UserError that names the plans there are
 */
export async function changeTenant(trx: Db, tenantId: number, change: TenantChange, month: string): Promise<void> {
  if (change.plan !== undefined) await requirePlan(trx, change.plan);
  await updateTenant(trx, tenantId, change);
  if (change.plan !== undefined) await reshareMonth(trx, tenantId, month);
}
