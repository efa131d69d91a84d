import { type RawBuilder, sql } from 'kysely';
import type { Database, Db } from './database.ts';
import { crossTenant } from './expressions.ts';
import { isDeadlock, violationOf } from './violations.ts';

const BATCH_ROWS = 5_000;

/** Work that began before the tenant was stopped may write rows during a pass; each pass is shorter than the one before. */
const MAX_PASSES = 10;

export interface DeletedRows {
  readonly table: string;
  readonly rows: number;
}

/**
 * Deletes every row of a tenant except those in `tenants` and `tenant_usage`, in transactions of at most 5,000 rows, so that no lock is
 * held for long. It may be interrupted and repeated. What other processes write meanwhile is deleted in further passes.
 * @param onBatch called after each transaction
 */
export async function deleteTenantRows(
  db: Database,
  tenantId: number,
  onBatch: (deleted: DeletedRows) => void,
): Promise<void> {
  const tables = referencingFirst(await tenantTables(db.read));
  for (let pass = 1; ; pass += 1) {
    let total = 0;
    let fault: unknown;
    for (const table of tables) {
      try {
        total += await deleteFrom(db, table, tenantId, onBatch);
      } catch (error) {
        if (!isConcurrencyFault(error)) throw error;
        fault = error;
      }
    }
    if (fault === undefined && (total === 0 || pass === MAX_PASSES)) return;
    if (pass === MAX_PASSES) throw fault;
  }
}

/** Whether concurrent transactions made a batch fail: they wrote rows that refer to it, or wanted the same locks. */
const isConcurrencyFault = (error: unknown): boolean => isDeadlock(error) || violationOf(error)?.kind === 'foreign_key';

async function deleteFrom(
  db: Database,
  table: TenantTable,
  tenantId: number,
  onBatch: (deleted: DeletedRows) => void,
): Promise<number> {
  for (let total = 0; ; ) {
    const rows = await db.transaction(trx => deleteBatch(trx, table, tenantId));
    if (rows > 0) onBatch({ table: table.name, rows });
    total += rows;
    if (rows < BATCH_ROWS) return total;
  }
}

/** Counts the rows that `deleteTenantRows` deletes. */
export async function countTenantRows(db: Database, tenantId: number): Promise<number> {
  let total = 0;
  for (const { name } of await tenantTables(db.read)) {
    const { rows } = await sql<{ count: number }>`
      select count(*)::float8 as count from ${sql.raw(name)} where tenant_id = ${tenantId}`.execute(db.read);
    total += rows[0]?.count ?? 0;
  }
  return total;
}

interface TenantTable {
  readonly name: string;
  /** Tables that its foreign keys reference. */
  readonly references: readonly string[];
}

/**
 * Lists the tables with a tenant. Partitions are listed instead of their parents, because a row's ctid is unique only within one. `tenant_usage`
 * is left out: a tenant is found by joining it, so that without it an interrupted deletion could not be repeated.
 */
async function tenantTables(db: Db): Promise<TenantTable[]> {
  const { rows } = await sql<TenantTable>`
    select c.oid::regclass::text as name,
      array(select k.confrelid::regclass::text from pg_constraint k where k.conrelid = c.oid and k.contype = 'f') as references
    from pg_class c
    join pg_attribute a on a.attrelid = c.oid and a.attname = 'tenant_id' and not a.attisdropped
    where c.relkind = 'r' and c.relnamespace = current_schema()::regnamespace and c.relname not in ('tenants', 'tenant_usage')
    order by 1 ${crossTenant('tables, no rows')}`.execute(db);
  return rows;
}

/** Sorts tables topologically: each comes before those that it references, unless they reference each other in a cycle. */
function referencingFirst(tables: readonly TenantTable[]): TenantTable[] {
  const byName = new Map(tables.map(table => [table.name, table]));
  const ordered = new Set<TenantTable>();
  const seen = new Set<TenantTable>();
  const add = (table: TenantTable): void => {
    if (seen.has(table)) return;
    seen.add(table);
    for (const name of table.references) {
      const referenced = byName.get(name);
      if (referenced) add(referenced);
    }
    ordered.add(table);
  };
  for (const table of tables) add(table);
  return [...ordered].reverse();
}

async function deleteBatch(trx: Db, { name }: TenantTable, tenantId: number): Promise<number> {
  const table: RawBuilder<unknown> = sql.raw(name);
  const { numAffectedRows } = await sql`
    delete from ${table} where tenant_id = ${tenantId} and ctid = any(array(
      select ctid from ${table} where tenant_id = ${tenantId} limit ${BATCH_ROWS}))`.execute(trx);
  return Number(numAffectedRows ?? 0);
}
