import { FEATURES } from '../../../core/plan-features.ts';
import type { Db } from '../../../database/database.ts';
import { UserError } from '../../../platform/user-error.ts';
import { changeTenant } from './change.ts';
import { requirePlan } from './create.ts';
import { insertPlan, type PlanRow, tenantsOfPlan, updatePlan } from './store.ts';

/** Limits and features of a plan. A maximum of null: unlimited; undefined keeps the value of an existing plan. */
export type PlanChange = { readonly [Field in Exclude<keyof PlanRow, 'id' | 'name'>]?: PlanRow[Field] | undefined };

/** Defaults of a new plan: no limit but that of calls, and every feature. */
const DEFAULTS: Omit<PlanRow, 'id' | 'name'> = {
  max_contacts: null,
  max_conversations: null,
  max_messages: null,
  max_staff: null,
  calls_per_minute: 600,
  features: FEATURES,
};

const NAME = /^[a-z0-9][a-z0-9_-]{0,62}$/;

/** @returns why a new plan cannot have this name; undefined if it can */
export const planNameFault = (name: string): string | undefined =>
  NAME.test(name) ? undefined : 'A plan name has 1 to 63 lower-case letters, digits, hyphens and underscores.';

/** Creates a plan, in the caller's transaction. @throws UserError for an invalid or taken name */
export async function createPlan(trx: Db, name: string, given: PlanChange): Promise<PlanRow> {
  const fault = planNameFault(name);
  if (fault !== undefined) throw new UserError(fault);
  const limits = Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined));
  const plan = await insertPlan(trx, { name, ...DEFAULTS, ...limits });
  if (!plan) throw new UserError(`There is a plan ${name} already. Change it with \`parley plan edit ${name}\`.`);
  return plan;
}

/**
 * Changes a plan, in the caller's transaction. New limits apply to all tenants of the plan at once, including to this month's usage.
 * @throws VALIDATION_ERROR with the names of all plans
 */
export async function changePlan(trx: Db, name: string, change: PlanChange): Promise<PlanRow> {
  await requirePlan(trx, name);
  const plan = await updatePlan(trx, name, change);
  for (const tenantId of await tenantsOfPlan(trx, plan.id)) await changeTenant(trx, tenantId, { plan: name });
  return plan;
}
