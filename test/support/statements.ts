import { readdirSync, readFileSync } from 'node:fs';

/** Statements of this test file that crossed the fence between tenants. */
export const faults = new Set<string>();

/**
 * Tables of tenants, as the migrations make them: a new one is there without anybody's remembering it. A statement that names
 * one must also say whose rows it means.
 */
export const TENANT_TABLES: readonly string[] = readdirSync('migrations')
  .map(file => readFileSync(`migrations/${file}`, 'utf8'))
  .flatMap(text => [...text.matchAll(/^create table (\w+) \(\n(.*?)^\)/gms)])
  .flatMap(([, table = '', columns = '']) => (/^ {2}tenant_id\b/m.test(columns) ? [table] : []));
const MENTIONS = new RegExp(`\\b(?:from|join|into|update|using)\\s+(?:only\\s+)?(${TENANT_TABLES.join('|')})\\b`, 'gi');

/**
 * What is wrong with a statement, seen from the fence between tenants: it touches a tenant's table without restricting
 * `tenant_id` to a parameter, and carries no `cross-tenant:` comment that explains why.
 */
export function tenantFault(text: string): string | undefined {
  // The same few hundred texts come again and again.
  if (!checked.has(text)) checked.set(text, faultOf(text));
  return checked.get(text);
}

const checked = new Map<string, string | undefined>();

function faultOf(text: string): string | undefined {
  const tables = [...text.matchAll(MENTIONS)].map(match => match[1] ?? '');
  if (tables.length === 0 || /\/\* cross-tenant: /.test(text)) return undefined;
  // Every table needs its own predicate or value: as many mentions of tenant_id as of tables is the least there can be.
  const bound = /tenant_id\s*=\s*\$\d|\(tenant_id[,)]|select \$\d+::bigint/.test(text);
  const mentions = [...text.matchAll(/tenant_id/g)].length;
  if (bound && mentions >= tables.length) return undefined;
  return `touches ${[...new Set(tables)].join(', ')} without its tenant: ${text.replace(/\s+/g, ' ').slice(0, 300)}`;
}
