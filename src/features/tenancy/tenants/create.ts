import { FieldErrorList, invalid } from '../../../core/errors.ts';
import type { Db } from '../../../database/database.ts';
import { isLonger, isStorable, UNSTORABLE } from '../../../platform/text.ts';
import { UserError } from '../../../platform/user-error.ts';
import { findTenant, insertTenant, planNames, type TenantRow } from './store.ts';
import { MAX_TENANT_NAME, SLUG } from './tenant.ts';

export interface NewTenant {
  readonly slug: string;
  readonly name: string;
  readonly plan: string;
  readonly windowPolicy: TenantRow['window_policy'];
  /** End of the plan, in ISO 8601; by default never. */
  readonly planExpiresAt?: string | undefined;
}

/**
 * Creates a tenant with its counters, in the caller's transaction.
 * @throws VALIDATION_ERROR by field; UserError if the slug is taken
 */
export async function createTenant(trx: Db, tenant: NewTenant): Promise<TenantRow> {
  const errors = new FieldErrorList();
  const slugFault = tenantSlugFault(tenant.slug);
  if (slugFault !== undefined) errors.add('slug', slugFault);
  // The slug is the default of the name.
  if (tenant.name !== tenant.slug) checkTenantName(tenant.name, errors);
  await errors.collect(() => requirePlan(trx, tenant.plan));
  errors.throwIfAny();
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

/** @throws VALIDATION_ERROR with the names of all plans */
export async function requirePlan(db: Db, plan: string): Promise<void> {
  const plans = await planNames(db);
  if (!plans.includes(plan))
    throw invalid({ plan: [`There is no plan ${plan}. There are ${plans.join(', ')}.`] }, 'REFERENCE_NOT_FOUND');
}

export const tenantSlugFault = (slug: string): string | undefined =>
  SLUG.test(slug) ? undefined : 'Has 1 to 63 lower-case letters, digits and hyphens, and does not begin with a hyphen.';

export function tenantNameFault(name: string): string | undefined {
  if (name.trim() === '' || isLonger(name, MAX_TENANT_NAME)) return `Must have 1 to ${MAX_TENANT_NAME} characters.`;
  return isStorable(name) ? undefined : UNSTORABLE;
}

export function checkTenantName(name: string, errors: FieldErrorList): void {
  const fault = tenantNameFault(name);
  if (fault !== undefined) errors.add('name', fault);
}
