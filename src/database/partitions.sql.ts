import { sql } from 'kysely';
import type { Db } from './database.ts';

/**
 * Creates the missing monthly partitions of these tables up to `monthsAhead` months ahead. A table that is in use is left to the
 * next run. Rows in the default partition move into the new partition of their month.
 */
export async function ensurePartitions(db: Db, tables: readonly string[], monthsAhead: number): Promise<void> {
  for (const table of tables) await sql`call ensure_month_partitions(${table}, ${monthsAhead}::integer)`.execute(db);
}

/**
 * Drops the monthly partitions of a table from before an instant. A partition in use is skipped until the next run.
 * @param which empty partitions only, or all
 * @param unless a query that returns whether a partition is still needed; `$1` and `$2` are its start and end
 */
export async function dropPartitions(
  db: Db,
  table: string,
  before: string,
  which: 'all' | 'empty',
  unless: string | null = null,
): Promise<void> {
  await sql`
    call drop_month_partitions(${table}, ${before}::timestamptz, ${which === 'empty'}::boolean, ${unless}::text)`.execute(
    db,
  );
}
