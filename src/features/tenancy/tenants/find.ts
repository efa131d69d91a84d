import type { Db } from '../../../database/database.ts';
import { UserError } from '../../../platform/user-error.ts';
import { findActiveTenant, findTenant, type TenantRow } from './store.ts';
import { SLUG } from './tenant.ts';

/** Whether a tenant has this slug. Only for callers with a valid token. */
export const isTenant = async (db: Db, slug: string): Promise<boolean> =>
  SLUG.test(slug) && (await findTenant(db, slug)) !== undefined;

export const isActiveTenant = async (db: Db, tenantId: number): Promise<boolean> =>
  (await findActiveTenant(db, tenantId)) !== undefined;

/** Finds a tenant by its slug, for the command line. @throws UserError */
export async function requireTenant(db: Db, slug: string): Promise<TenantRow> {
  const tenant = await findTenant(db, slug);
  if (!tenant) throw new UserError(`There is no tenant ${slug}. See \`parley tenant list\`.`);
  return tenant;
}
