import { sql } from 'kysely';
import type { Db } from './database.ts';

/** Makes the monthly partitions of these tables up to `monthsAhead` months from now; what is there already stays. */
export async function ensurePartitions(db: Db, tables: readonly string[], monthsAhead: number): Promise<void> {
  for (const table of tables) await sql`call ensure_month_partitions(${table}, ${monthsAhead}::integer)`.execute(db);
}

/**
 * Drops the monthly partitions of a table that lie before an instant; one that somebody uses at the moment stays until the
 * next time.
 * @param which all of them, or such as have no rows any more
 */
export async function dropPartitions(db: Db, table: string, before: string, which: 'all' | 'empty'): Promise<void> {
  await sql`call drop_month_partitions(${table}, ${before}::timestamptz, ${which === 'empty'}::boolean)`.execute(db);
}
