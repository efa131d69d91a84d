import { sql } from 'kysely';
import type { Database, Db } from '../../src/database/database.ts';
import type { TestDatabase } from './database.ts';

/** A condition for these tables and their partitions. */
const isOf = (tables: readonly string[] | undefined) =>
  tables ? sql`regexp_replace(relname, '_(\\d{6}|default)$', '') = any(${tables}::text[])` : sql`true`;

/**
 * Rows of these tables and their partitions that the transaction has read, by an index or not, with those that its connection read shortly
 * before.
 */
async function countRead(trx: Db, tables: readonly string[] | undefined): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    select sum(seq_tup_read + coalesce(idx_tup_fetch, 0))::int as count from pg_stat_xact_user_tables where ${isOf(tables)}`.execute(
    trx,
  );
  return rows[0]?.count ?? Number.NaN;
}

/** Rows of these tables and their partitions that some work of a transaction reads. @param tables undefined: of all */
export async function rowsReadBy(
  trx: Db,
  tables: readonly string[] | undefined,
  work: () => Promise<unknown>,
): Promise<number> {
  const before = await countRead(trx, tables);
  await work();
  return (await countRead(trx, tables)) - before;
}

/** The most rows that some work reads, with the plan of the first executions, which is made for the values, and the one that is kept. */
export async function mostRowsRead(
  db: Database,
  tables: readonly string[],
  work: (trx: Db) => Promise<unknown>,
): Promise<number> {
  const counts: number[] = [];
  for (const mode of ['force_custom_plan', 'force_generic_plan'])
    counts.push(
      await db.transaction(trx =>
        rowsReadBy(trx, tables, async () => {
          await sql`select set_config('plan_cache_mode', ${mode}, true)`.execute(trx);
          await work(trx);
        }),
      ),
    );
  return Math.max(...counts);
}

/** Keeps the statistics of these tables and their partitions as they are. */
export async function stopAutovacuum({ query }: TestDatabase, tables: readonly string[]): Promise<void> {
  const found = await query<{ name: string }>(
    `select oid::regclass as name from pg_class
     where relkind = 'r' and regexp_replace(relname, '_(\\d{6}|default)$', '') = any($1)`,
    [tables],
  );
  for (const { name } of found) await query(`alter table ${name} set (autovacuum_enabled = off)`);
}
