import type { Db } from '../../platform/database.ts';
import { UserError } from '../../platform/user-error.ts';
import { findTenant, type TenantRow } from './store.ts';

/** A tenant by its slug, for the command line. @throws UserError */
export async function requireTenant(db: Db, slug: string): Promise<TenantRow> {
  const tenant = await findTenant(db, slug);
  if (!tenant) throw new UserError(`There is no tenant ${slug}. See \`parley tenant list\`.`);
  return tenant;
}
