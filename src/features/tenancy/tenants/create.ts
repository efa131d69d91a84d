import type { Db } from '../../../database/database.ts';
import { UserError } from '../../../platform/user-error.ts';
import { findTenant, insertTenant, planNames, type TenantRow } from './store.ts';
import { SLUG } from './tenant.ts';

export interface NewTenant {
  readonly slug: string;
  readonly name: string;
  readonly plan: string;
  readonly windowPolicy: TenantRow['window_policy'];
  /** End of the plan, in ISO 8601; by default never. */
  readonly planExpiresAt?: string | undefined;
}

/** Creates a tenant with its counters, in the caller's transaction. @throws UserError */
export async function createTenant(trx: Db, tenant: NewTenant): Promise<TenantRow> {
  if (!SLUG.test(tenant.slug)) {
    throw new UserError('A slug has 1 to 63 lower-case letters, digits and hyphens, and does not begin with a hyphen.');
  }
  await requirePlan(trx, tenant.plan);
  const id = await insertTenant(
    trx,
    tenant.slug,
    tenant.name,
    tenant.plan,
    tenant.windowPolicy,
    tenant.planExpiresAt ?? null,
  );
  const created = id === undefined ? undefined : await findTenant(trx, tenant.slug);
  if (!created) throw new UserError(`There is a tenant ${tenant.slug} already.`);
  return created;
}

/** @throws UserError with the names of all plans */
export async function requirePlan(db: Db, plan: string): Promise<void> {
  const plans = await planNames(db);
  if (!plans.includes(plan)) throw new UserError(`There is no plan ${plan}. There are ${plans.join(', ')}.`);
}
