import type { Feature } from '../../../core/plan-features.ts';
import type { Tenant } from '../../../core/principal.ts';

/** As names of staff members. */
export const MAX_TENANT_NAME = 255;

/** Valid slugs of tenants. */
export const SLUG = /^[a-z0-9][a-z0-9-]{0,62}$/;

/** The columns of a tenant (`n`) and its plan (`p`) that a caller's context has. */
export const TENANT_COLUMNS = [
  'n.tenant_id',
  'n.slug',
  'n.name as tenant_name',
  'p.name as plan_name',
  'p.features',
  'p.calls_per_minute as tenant_calls_per_minute',
  'n.window_policy',
  'n.default_source_id',
  'n.default_status_id',
  'n.default_country',
  'n.time_zone',
] as const;

export interface TenantColumns {
  readonly tenant_id: number;
  readonly slug: string;
  readonly tenant_name: string;
  readonly plan_name: string;
  readonly features: readonly Feature[];
  readonly tenant_calls_per_minute: number;
  readonly window_policy: 'network' | 'refuse';
  readonly default_source_id: number | null;
  readonly default_status_id: number | null;
  readonly default_country: string | null;
  readonly time_zone: string;
}

export const tenantOfColumns = (row: TenantColumns): Tenant => ({
  id: row.tenant_id,
  slug: row.slug,
  name: row.tenant_name,
  planName: row.plan_name,
  features: new Set(row.features),
  callsPerMinute: row.tenant_calls_per_minute,
  windowPolicy: row.window_policy,
  defaultSourceId: row.default_source_id,
  defaultStatusId: row.default_status_id,
  defaultCountry: row.default_country,
  timeZone: row.time_zone,
});
