import { sql } from 'kysely';
import type { Db } from './database.ts';

/** Makes the monthly partitions of these tables up to `monthsAhead` months from now; what is there already stays. */
export async function ensurePartitions(db: Db, tables: readonly string[], monthsAhead: number): Promise<void> {
  for (const table of tables) await sql`call ensure_month_partitions(${table}, ${monthsAhead}::integer)`.execute(db);
}

/**
 * Drops the monthly partitions of a table that lie before an instant; one that somebody uses at the moment stays until the
 * next time.
 * @param which such as have no rows any more, or all of them
 * @param unless a query that answers whether a month is still needed, `$1` and `$2` being the instants at which it begins and ends
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
