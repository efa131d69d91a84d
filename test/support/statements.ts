import { readFileSync } from 'node:fs';
import { unboundTables } from './tenant-check.ts';

/** Statements of this test file that reached rows of other tenants. */
export const tenantFaults = new Set<string>();

const GENERATED = readFileSync('src/database/tables.generated.ts', 'utf8');
const COLUMNS_OF_ROWS = new Map(
  [...GENERATED.matchAll(/^export interface (\w+) \{\n(.*?)^\}/gms)].map(([, row = '', columns = '']) => [
    row,
    new Set([...columns.matchAll(/^ {2}(\w+):/gm)].map(([, column = '']) => column)),
  ]),
);

/** Columns of each table of the migrated database. */
export const TABLES: ReadonlyMap<string, ReadonlySet<string>> = new Map(
  [...(/^export interface DB \{\n(.*?)^\}/ms.exec(GENERATED)?.[1] ?? '').matchAll(/^ {2}(\w+): (\w+);$/gm)].map(
    ([, table = '', row = '']) => [table, COLUMNS_OF_ROWS.get(row) ?? new Set()],
  ),
);

/** Tables with a `tenant_id`: a statement on one of them must restrict it to a tenant. */
export const TENANT_TABLES: readonly string[] = [...TABLES].flatMap(([table, columns]) =>
  columns.has('tenant_id') ? [table] : [],
);

const checked = new Map<string, string | undefined>();

/**
 * The fault of a statement that reads or writes tables of tenants without restricting each of them to a tenant. A comment
 * `cross-tenant:` exempts the statement and says why.
 */
export function tenantFault(text: string): string | undefined {
  // Tests run the same few hundred texts over and over.
  if (!checked.has(text)) checked.set(text, faultOf(text));
  return checked.get(text);
}

function faultOf(text: string): string | undefined {
  if (/\/\* cross-tenant: /.test(text)) return undefined;
  const tables = unboundTables(text, TABLES);
  if (tables.length === 0) return undefined;
  return `touches ${tables.join(', ')} without its tenant: ${text.replace(/\s+/g, ' ').slice(0, 300)}`;
}
