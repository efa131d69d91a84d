import { sql } from 'kysely';
import type { Database, Db } from '../../src/database/database.ts';

/** Rows of the tables, and of their partitions, that some work reads in a transaction. */
function rowsRead(db: Database, tables: readonly string[], work: (trx: Db) => Promise<unknown>): Promise<number> {
  const counted = async (trx: Db): Promise<number> => {
    const { rows } = await sql<{ count: number }>`
      select sum(seq_tup_read + coalesce(idx_tup_fetch, 0))::int as count from pg_stat_xact_user_tables
      where regexp_replace(relname, '_(\\d{6}|default)$', '') = any(${tables}::text[])`.execute(trx);
    return rows[0]?.count ?? 0;
  };
  return db.transaction(async trx => {
    const before = await counted(trx);
    await work(trx);
    return (await counted(trx)) - before;
  });
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
      await rowsRead(db, tables, async trx => {
        await sql`select set_config('plan_cache_mode', ${mode}, true)`.execute(trx);
        await work(trx);
      }),
    );
  return Math.max(...counts);
}
