import type { ExpressionBuilder } from 'kysely';
import type { Feature } from '../../../core/plan-features.ts';
import { compileOnce } from '../../../database/compile-once.ts';
import type { Db, Schema } from '../../../database/database.ts';
import { crossTenant, transactionTime } from '../../../database/expressions.ts';
import { TENANT_COLUMNS, type TenantColumns } from './tenant.ts';

export interface TenantRow {
  readonly tenant_id: number;
  readonly slug: string;
  readonly name: string;
  readonly status: 'active' | 'suspended';
  readonly plan_name: string;
  readonly plan_expires_at: string | null;
  readonly max_contacts: number | null;
  readonly calls_per_minute: number;
  readonly contacts: number;
  readonly window_policy: 'network' | 'refuse';
  readonly opt_out_words: readonly string[];
  readonly time_zone: string;
  readonly created_at: string;
}

/** Finds a tenant by its slug. */
export const findTenant = (db: Db, slug: string): Promise<TenantRow | undefined> =>
  db
    .selectFrom('tenants as t')
    .innerJoin('plans as p', 'p.id', 't.plan_id')
    .innerJoin('tenant_usage as u', 'u.tenant_id', 't.tenant_id')
    .select([
      't.tenant_id',
      't.slug',
      't.name',
      't.status',
      't.window_policy',
      't.opt_out_words',
      't.time_zone',
      't.created_at',
    ])
    .select(['p.name as plan_name', 't.plan_expires_at', 'p.max_contacts', 'p.calls_per_minute', 'u.contacts'])
    .$narrowType<Pick<TenantRow, 'status' | 'window_policy'>>()
    .where('t.slug', '=', slug)
    .modifyEnd(crossTenant('a tenant by its name'))
    .executeTakeFirst();

const selectActiveTenant = compileOnce((db, tenantId: number) =>
  db
    .selectFrom('tenants as n')
    .innerJoin('plans as p', 'p.id', 'n.plan_id')
    .select(TENANT_COLUMNS)
    .$narrowType<{ features: Feature[]; window_policy: TenantRow['window_policy'] }>()
    .where('n.tenant_id', '=', tenantId)
    .where('n.status', '=', 'active'),
);

/** Finds an active tenant with its plan. */
export const findActiveTenant = async (db: Db, tenantId: number): Promise<TenantColumns | undefined> =>
  (await selectActiveTenant(db, tenantId))[0];

/** A plan. A maximum of null: unlimited. */
export interface PlanRow {
  readonly id: number;
  readonly name: string;
  readonly max_contacts: number | null;
  /** Per month. */
  readonly max_conversations: number | null;
  /** Per month. */
  readonly max_messages: number | null;
  readonly max_staff: number | null;
  readonly calls_per_minute: number;
  readonly features: readonly Feature[];
}

const PLAN_COLUMNS = [
  'id',
  'name',
  'max_contacts',
  'max_conversations',
  'max_messages',
  'max_staff',
  'calls_per_minute',
  'features',
] as const;
type PlanFeatures = { features: Feature[] };

/** @returns undefined if the name is taken */
export const insertPlan = (trx: Db, { features, ...plan }: Omit<PlanRow, 'id'>): Promise<PlanRow | undefined> =>
  trx
    .insertInto('plans')
    .values({ ...plan, features: [...features] })
    .onConflict(conflict => conflict.column('name').doNothing())
    .returning(PLAN_COLUMNS)
    .$narrowType<PlanFeatures>()
    .executeTakeFirst();

/** Updates an existing plan; fields that are undefined keep their values. */
export const updatePlan = (
  trx: Db,
  name: string,
  { features, ...limits }: { readonly [Field in keyof PlanRow]?: PlanRow[Field] | undefined },
): Promise<PlanRow> =>
  trx
    .updateTable('plans')
    .set({ ...limits, name, features: features && [...features] })
    .where('name', '=', name)
    .returning(PLAN_COLUMNS)
    .$narrowType<PlanFeatures>()
    .executeTakeFirstOrThrow();

/** Lists the tenants of a plan by id, the order in which their counters are locked. */
export async function tenantsOfPlan(db: Db, planId: number): Promise<number[]> {
  const rows = await db
    .selectFrom('tenants')
    .select('tenant_id')
    .where('plan_id', '=', planId)
    .orderBy('tenant_id')
    .modifyEnd(crossTenant('the tenants of a plan'))
    .execute();
  return rows.map(row => row.tenant_id);
}

export const listPlans = (db: Db): Promise<PlanRow[]> =>
  db
    .selectFrom('plans')
    .select(PLAN_COLUMNS)
    .$narrowType<PlanFeatures>()
    .orderBy('calls_per_minute')
    .orderBy('id')
    .execute();

export async function planNames(db: Db): Promise<string[]> {
  const rows = await db.selectFrom('plans').select('name').orderBy('calls_per_minute').execute();
  return rows.map(row => row.name);
}

/**
 * Inserts a tenant with its counters.
 * @param plan name of an existing plan
 * @returns the tenant's id; undefined if the slug is taken
 */
export async function insertTenant(
  trx: Db,
  slug: string,
  name: string,
  plan: string,
  windowPolicy: TenantRow['window_policy'],
  planExpiresAt: string | null,
): Promise<number | undefined> {
  const tenant = await trx
    .insertInto('tenants')
    .values(eb => ({
      slug,
      name,
      plan_id: eb.selectFrom('plans').select('id').where('name', '=', plan),
      window_policy: windowPolicy,
      plan_expires_at: planExpiresAt,
    }))
    .onConflict(conflict => conflict.column('slug').doNothing())
    .returning('tenant_id')
    .modifyEnd(crossTenant('a new tenant has no id yet'))
    .executeTakeFirst();
  if (!tenant) return undefined;
  const maximum = (eb: ExpressionBuilder<Schema, 'tenant_usage'>) =>
    eb.selectFrom('plans').select('max_contacts').where('name', '=', plan);
  await trx
    .insertInto('tenant_usage')
    .values(eb => ({ tenant_id: tenant.tenant_id, contacts_maximum: maximum(eb), contacts_ceiling: maximum(eb) }))
    .execute();
  return tenant.tenant_id;
}

/** Deletes a tenant, whose other rows are deleted already; what was written since goes with it. */
export const deleteTenant = (trx: Db, tenantId: number): Promise<unknown> =>
  trx.deleteFrom('tenants').where('tenant_id', '=', tenantId).execute();

/** Settings that the operator changes; for the tenant's own see `Settings`. */
export interface TenantChange {
  readonly name?: string | undefined;
  readonly status?: TenantRow['status'] | undefined;
  readonly plan?: string | undefined;
  /** ISO 8601; null: never. */
  readonly planExpiresAt?: string | null | undefined;
  /** Null: never deleted. */
  readonly keepMessagesDays?: number | null | undefined;
}

export async function updateTenant(trx: Db, tenantId: number, change: TenantChange): Promise<void> {
  const { plan } = change;
  // The builder leaves out columns that are undefined.
  await trx
    .updateTable('tenants')
    .set({
      name: change.name,
      status: change.status,
      plan_expires_at: change.planExpiresAt,
      keep_messages_days: change.keepMessagesDays,
      plan_id:
        plan === undefined
          ? undefined
          : eb => eb.fn.coalesce(eb.selectFrom('plans').select('id').where('name', '=', plan), 'tenants.plan_id'),
      updated_at: transactionTime,
    })
    .where('tenant_id', '=', tenantId)
    .execute();
  if (plan === undefined) return;
  // A smaller plan does not delete contacts: the ceiling is the present number, and falls with every deletion.
  await trx
    .updateTable('tenant_usage as u')
    .from('plans as p')
    .set(eb => ({
      contacts_maximum: eb.ref('p.max_contacts'),
      contacts_ceiling: eb
        .case()
        .when('p.max_contacts', 'is not', null)
        .then(eb.fn<number>('greatest', ['p.max_contacts', 'u.contacts']))
        .end(),
    }))
    .where('p.name', '=', plan)
    .where('u.tenant_id', '=', tenantId)
    .execute();
}
