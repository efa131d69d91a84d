import { sql } from 'kysely';
import type { Db } from '../../platform/database.ts';
import { TENANT_COLUMNS, TENANT_TABLES, type TenantColumns } from './columns.ts';
import type { Feature } from './feature.ts';

declare module '../../platform/database.ts' {
  interface Tables {
    tenants: { tenant_id: number; slug: string };
    plans: { id: number; name: string };
  }
}

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
  readonly created_at: string;
}

const SELECT = sql.raw(`
  select t.tenant_id, t.slug, t.name, t.status, p.name as plan_name, t.plan_expires_at, p.max_contacts, p.calls_per_minute, u.contacts, t.window_policy,
         t.opt_out_words, t.created_at
  from tenants t join plans p on p.id = t.plan_id join tenant_usage u on u.tenant_id = t.tenant_id`);

export async function findTenant(db: Db, slug: string): Promise<TenantRow | undefined> {
  const { rows } =
    await sql<TenantRow>`/* cross-tenant: a tenant by its name */ ${SELECT} where t.slug = ${slug}`.execute(db);
  return rows[0];
}

/** A tenant that is active, with its plan. */
export async function findActiveTenant(db: Db, tenantId: number): Promise<TenantColumns | undefined> {
  const { rows } = await sql<TenantColumns>`
    select ${TENANT_COLUMNS} from ${TENANT_TABLES} where n.tenant_id = ${tenantId} and n.status = 'active'`.execute(db);
  return rows[0];
}

/** What a plan allows; null: unlimited. */
export interface PlanRow {
  readonly id: number;
  readonly name: string;
  readonly max_contacts: number | null;
  /** A month. */
  readonly max_conversations: number | null;
  /** A month. */
  readonly max_messages: number | null;
  readonly max_staff: number | null;
  readonly calls_per_minute: number;
  readonly features: readonly Feature[];
}

export async function listPlans(db: Db): Promise<PlanRow[]> {
  const { rows } = await sql<PlanRow>`
    select id, name, max_contacts, max_conversations, max_messages, max_staff, calls_per_minute, features
    from plans order by calls_per_minute, id`.execute(db);
  return rows;
}

export async function planNames(db: Db): Promise<string[]> {
  const { rows } = await sql<{ name: string }>`select name from plans order by calls_per_minute`.execute(db);
  return rows.map(row => row.name);
}

/** @returns the new tenant's id; undefined when the slug is taken */
export async function insertTenant(
  trx: Db,
  slug: string,
  name: string,
  plan: string,
  windowPolicy: TenantRow['window_policy'],
  planExpiresAt: string | null,
): Promise<number | undefined> {
  const { rows } = await sql<{ tenant_id: number }>`
    /* cross-tenant: a new tenant has no id yet */
    insert into tenants (slug, name, plan_id, window_policy, plan_expires_at)
    select ${slug}, ${name}, id, ${windowPolicy}, ${planExpiresAt}::timestamptz from plans where name = ${plan}
    on conflict (slug) do nothing returning tenant_id`.execute(trx);
  const id = rows[0]?.tenant_id;
  if (id === undefined) return undefined;
  await sql`
    insert into tenant_usage (tenant_id, contacts_maximum, contacts_ceiling)
    select ${id}, max_contacts, max_contacts from plans where name = ${plan}`.execute(trx);
  return id;
}

export interface TenantChange {
  readonly name?: string | undefined;
  readonly status?: TenantRow['status'] | undefined;
  readonly plan?: string | undefined;
  /** ISO 8601; null: never. */
  readonly planExpiresAt?: string | null | undefined;
  readonly windowPolicy?: TenantRow['window_policy'] | undefined;
  readonly optOutWords?: readonly string[] | undefined;
  readonly defaultSourceId?: number | undefined;
  readonly defaultStatusId?: number | undefined;
}

export async function updateTenant(trx: Db, tenantId: number, change: TenantChange): Promise<void> {
  await sql`
    update tenants t set
      name = coalesce(${change.name ?? null}, t.name),
      status = coalesce(${change.status ?? null}, t.status),
      window_policy = coalesce(${change.windowPolicy ?? null}, t.window_policy),
      opt_out_words = coalesce(${change.optOutWords ?? null}::text[], t.opt_out_words),
      default_source_id = coalesce(${change.defaultSourceId ?? null}::bigint, t.default_source_id),
      default_status_id = coalesce(${change.defaultStatusId ?? null}::bigint, t.default_status_id),
      plan_expires_at = case when ${change.planExpiresAt !== undefined} then ${change.planExpiresAt ?? null}::timestamptz
                             else t.plan_expires_at end,
      plan_id = coalesce((select id from plans where name = ${change.plan ?? null}), t.plan_id),
      updated_at = now()
    where t.tenant_id = ${tenantId}`.execute(trx);
  if (change.plan === undefined) return;
  // A smaller plan does not take contacts away: the ceiling is what is there, and sinks with every deletion.
  await sql`
    update tenant_usage u set contacts_maximum = p.max_contacts,
      contacts_ceiling = case when p.max_contacts is not null then greatest(p.max_contacts, u.contacts) end
    from plans p where p.name = ${change.plan} and u.tenant_id = ${tenantId}`.execute(trx);
}
