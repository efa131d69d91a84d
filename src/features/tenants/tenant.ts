import type { Tenant } from '../../context.ts';
import type { TenantColumns } from './columns.ts';

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
});
