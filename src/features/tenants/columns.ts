import { sql } from 'kysely';
import type { Feature } from './feature.ts';

/** What a caller's context knows of a tenant (`n`) and its plan (`p`). */
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
}

export const TENANT_COLUMNS = sql.raw(
  `n.tenant_id, n.slug, n.name as tenant_name, p.name as plan_name, p.features, p.calls_per_minute as tenant_calls_per_minute,
   n.window_policy, n.default_source_id, n.default_status_id`,
);

export const TENANT_TABLES = sql.raw('tenants n join plans p on p.id = n.plan_id');
