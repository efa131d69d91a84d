/** Statements of this test file that crossed the fence between tenants. */
export const faults = new Set<string>();

/** Tables of tenants. A statement that names one must also say whose rows it means. */
const TENANT_TABLES = [
  'access_tokens',
  'channels',
  'channel_numbers',
  'contact_groups',
  'contacts',
  'conversations',
  'events',
  'groups',
  'idempotency_keys',
  'inbound_webhooks',
  'media',
  'messages',
  'monthly_usage',
  'outbox',
  'sources',
  'staff',
  'statuses',
  'template_syncs',
  'templates',
  'tenant_usage',
  'tenants',
];
const MENTIONS = new RegExp(`\\b(?:from|join|into|update|using)\\s+(?:only\\s+)?(${TENANT_TABLES.join('|')})\\b`, 'gi');

/**
 * What is wrong with a statement, seen from the fence between tenants: it touches a tenant's table without restricting
 * `tenant_id` to a parameter, and carries no `cross-tenant:` comment that explains why.
 */
export function tenantFault(text: string): string | undefined {
  const tables = [...text.matchAll(MENTIONS)].map(match => match[1] ?? '');
  if (tables.length === 0 || /\/\* cross-tenant: /.test(text)) return undefined;
  // Every table needs its own predicate or value: as many mentions of tenant_id as of tables is the least there can be.
  const bound = /tenant_id\s*=\s*\$\d|\(tenant_id[,)]|select \$\d+::bigint/.test(text);
  const mentions = [...text.matchAll(/tenant_id/g)].length;
  if (bound && mentions >= tables.length) return undefined;
  return `touches ${[...new Set(tables)].join(', ')} without its tenant: ${text.replace(/\s+/g, ' ').slice(0, 300)}`;
}
