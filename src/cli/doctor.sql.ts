import { sql } from 'kysely';
import type { Db } from '../database/database.ts';

/** Properties of the server that `parley doctor` checks. */
export interface ServerFacts {
  readonly version: string;
  readonly version_num: number;
  readonly max_connections: number;
  readonly connections: number;
  readonly now_ms: number;
  readonly is_standby: boolean;
}

export async function readServerFacts(db: Db): Promise<ServerFacts> {
  const { rows } = await sql<ServerFacts>`
    select current_setting('server_version') as version, current_setting('server_version_num')::int as version_num,
      current_setting('max_connections')::int as max_connections,
      (select count(*)::int from pg_stat_activity where backend_type = 'client backend') as connections,
      extract(epoch from clock_timestamp())::float8 * 1000 as now_ms, pg_is_in_recovery() as is_standby`.execute(db);
  return rows[0] as ServerFacts;
}

/** Tables partitioned by month without a partition for the next month: its rows would go into the default partition. */
export async function tablesWithoutNextMonth(db: Db): Promise<string[]> {
  const { rows } = await sql<{ name: string }>`
    select parent.relname as name from pg_class parent
    where parent.relkind = 'p' and parent.relnamespace = 'public'::regnamespace
      and to_regclass(parent.relname || '_default') is not null
      and to_regclass(parent.relname || to_char((now() + interval '1 month') at time zone 'UTC', '_YYYYMM')) is null
    order by 1`.execute(db);
  return rows.map(({ name }) => name);
}
