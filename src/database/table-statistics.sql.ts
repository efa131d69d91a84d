import { sql } from 'kysely';
import type { Db } from './database.ts';

/** Rows from which the choice of an index matters. */
const MIN_ROWS = 1_000;

/** Size of a table without statistics from which the choice of an index matters. */
const MIN_BYTES = 1024 * 1024;

/**
 * Analyzes tables that have doubled since the planner learned their size. Autovacuum looks once a minute: until then, the first import of
 * 30,000 contacts is planned as if the table had a few rows, so that any index that begins with the account seems as good as the primary key.
 * So are tables that were never analyzed, which the server's counters do not show after its upgrade (before PostgreSQL 18).
 * Shrunken tables are not analyzed: queues are filled again. A table that autovacuum is working on is skipped.
 * @returns the names of the tables
 */
export async function analyzeGrown(db: Db): Promise<string[]> {
  const { rows } = await sql<{ name: string }>`
    select s.relname as name from pg_stat_user_tables s join pg_class c on c.oid = s.relid
    where s.schemaname = current_schema() and c.relkind = 'r' and (
      (s.n_mod_since_analyze >= ${MIN_ROWS}::bigint and s.n_live_tup >= greatest(${MIN_ROWS}::bigint, 2 * c.reltuples))
      or (c.reltuples < 0 and pg_relation_size(c.oid) >= ${MIN_BYTES}::bigint))
    order by s.relname`.execute(db);
  const names = rows.map(({ name }) => name);
  for (const name of names) await sql`analyze (skip_locked) ${sql.id(name)}`.execute(db);
  return names;
}
