import type { TestDatabase } from './database.ts';

/** The SQL that starts a new timeline, for a transaction that also takes back what a standby would lack. */
export const PROMOTE = 'update test_timeline set id = id + 1';

/**
 * Gives a database a timeline of its own, which `PROMOTE` changes; connections that are open are cut, and opened again they see it.
 * @param name `error`: the server refuses to tell it
 */
export async function setTimeline({ query }: TestDatabase, id: number | 'error'): Promise<void> {
  await query('create table test_timeline as select 0 as id');
  // Before pg_catalog in the search path below.
  await query(
    id === 'error'
      ? `create function pg_walfile_name(pg_lsn) returns text language plpgsql as
         $$ begin raise feature_not_supported using message = 'not supported by this service'; end $$`
      : `create function pg_walfile_name(pg_lsn) returns text language sql as
         $$ select lpad(to_hex(id), 8, '0') || repeat('0', 16) from test_timeline $$`,
  );
  if (id !== 'error') await query('update test_timeline set id = $1', [id]);
  await query(
    `do $$ begin execute format('alter database %I set search_path = public, pg_catalog', current_database()); end $$`,
  );
  await query(
    'select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()',
  );
}
