import { sql } from 'kysely';
import type { Db } from './database.ts';

/** Makes the monthly partitions of these tables up to `monthsAhead` months from now; what is there already stays. */
export async function ensurePartitions(db: Db, tables: readonly string[], monthsAhead: number): Promise<void> {
  for (const table of tables) await sql`call ensure_month_partitions(${table}, ${monthsAhead}::integer)`.execute(db);
}
