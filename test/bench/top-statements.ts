import type pg from 'pg';
import type { Table } from './report.ts';

/**
 * Begins to count statements anew.
 * @returns false where pg_stat_statements is not loaded (`shared_preload_libraries`)
 */
export async function countStatements(pool: pg.Pool): Promise<boolean> {
  const { rows } = await pool.query<{ is_loaded: boolean }>(
    `select 'pg_stat_statements' = any (regexp_split_to_array(current_setting('shared_preload_libraries'), '\\s*,\\s*')) as is_loaded`,
  );
  if (!rows[0]?.is_loaded) return false;
  await pool.query('create extension if not exists pg_stat_statements');
  await pool.query('select pg_stat_statements_reset()');
  return true;
}

interface StatementCount {
  readonly text: string;
  readonly calls: number;
  /** Milliseconds of all calls. */
  readonly ms: number;
  readonly rows: number;
}

/**
 * The statements of this database that took the most time since `countStatements`. Times include waiting for a processor: compare
 * those of one run.
 * @param messages by which the time of all calls is divided
 */
export async function topStatements(pool: pg.Pool, messages: number, limit = 12): Promise<Table> {
  const { rows } = await pool.query<StatementCount>(
    `select btrim(regexp_replace(query, '\\s+', ' ', 'g')) as text, calls::float8, total_exec_time as ms, rows::float8
     from pg_stat_statements s join pg_database d on d.oid = s.dbid
     where d.datname = current_database() and query !~ 'pg_stat_statements' order by total_exec_time desc limit $1`,
    [limit],
  );
  return {
    head: ['statement', 'calls', 'mean ms', 'rows a call', 'µs a message'],
    rows: rows.map(({ text, calls, ms, rows: found }) => [
      text.slice(0, 90),
      String(calls),
      (ms / calls).toFixed(3),
      (found / calls).toFixed(1),
      ((ms * 1_000) / messages).toFixed(1),
    ]),
  };
}
