import { type RawBuilder, sql } from 'kysely';
import type { Db } from './database.ts';

/*
 * Statements on values that are sealed under PARLEY_SECRET_KEY. Their tables and columns are variables, and the key applies to the
 * whole database, so none of them has a tenant filter.
 */

/** Columns whose values are sealed under PARLEY_SECRET_KEY. A test compares them with the bytea columns of the database. */
export const SEALED_COLUMNS: readonly { readonly table: string; readonly columns: readonly string[] }[] = [
  { table: 'channels', columns: ['access_token_sealed', 'app_secret_sealed'] },
  { table: 'webhook_endpoints', columns: ['secret', 'previous_secret', 'headers'] },
  { table: 'integrations', columns: ['secret_sealed', 'previous_secret_sealed'] },
  { table: 'erasure_receipts', columns: ['pending'] },
  { table: 'outbox', columns: ['sealed'] },
];

/** A few values of a column. */
export async function readSamples(db: Db, table: string, column: string): Promise<Buffer[]> {
  const { rows } = await sql<{ sealed: Buffer }>`
    /* cross-tenant: the secret key applies to the whole database */
    select ${sql.ref(column)} as sealed from ${sql.table(table)} where ${sql.ref(column)} is not null limit 3`.execute(
    db,
  );
  return rows.map(row => row.sealed);
}

/** Whether a value does not have the header of the current key (`SecretBox.sealHeader`). */
const isStale = (column: string, header: Buffer): RawBuilder<boolean> =>
  sql`substring(${sql.ref(column)} from 1 for ${sql.lit(header.length)}) <> ${header}`;

/** Counts the values of a column, and those that are stale. */
export async function countColumn(
  db: Db,
  table: string,
  column: string,
  header: Buffer,
): Promise<{ readonly total: number; readonly stale: number }> {
  const { rows } = await sql<{ total: number; stale: number }>`
    /* cross-tenant: the secret key applies to the whole database */
    select count(*)::int as total, (count(*) filter (where ${isStale(column, header)}))::int as stale
    from ${sql.table(table)} where ${sql.ref(column)} is not null`.execute(db);
  return rows[0] ?? { total: 0, stale: 0 };
}

export interface KeyColumn {
  readonly name: string;
  readonly type: string;
}

/** The columns of a table's primary key, in their order. */
export async function primaryKeyOf(db: Db, table: string): Promise<KeyColumn[]> {
  const { rows } = await sql<KeyColumn>`
    select a.attname as name, format_type(a.atttypid, a.atttypmod) as type
    from pg_index i join pg_attribute a on a.attrelid = i.indrelid and a.attnum = any(i.indkey)
    where i.indrelid = ${table}::regclass and i.indisprimary
    order by array_position(i.indkey::int2[], a.attnum)`.execute(db);
  return rows;
}

/** A stale value, with the primary key of its row as text. */
export interface StaleRow {
  readonly key: readonly string[];
  readonly sealed: Buffer;
}

/** Reads stale values in the order of the primary key. @param after the key of the last row of the previous batch */
export async function readStale(
  db: Db,
  table: string,
  column: string,
  header: Buffer,
  key: readonly KeyColumn[],
  { after, limit }: { readonly after: readonly string[] | undefined; readonly limit: number },
): Promise<StaleRow[]> {
  const names = sql.join(key.map(({ name }) => sql.ref(name)));
  const texts = sql.join(key.map(({ name }) => sql`${sql.ref(name)}::text`));
  const isAfter =
    after && sql`and (${names}) > (${sql.join(key.map(({ type }, at) => sql`${after[at]}::${sql.raw(type)}`))})`;
  const { rows } = await sql<StaleRow>`
    /* cross-tenant: the secret key applies to the whole database */
    select array[${texts}] as key, ${sql.ref(column)} as sealed from ${sql.table(table)}
    where ${sql.ref(column)} is not null and ${isStale(column, header)} ${isAfter ?? sql``}
    order by ${names} limit ${sql.lit(limit)}`.execute(db);
  return rows;
}

/** Replaces values, except those that have changed since they were read. */
export async function replaceSealed(
  db: Db,
  table: string,
  column: string,
  key: readonly KeyColumn[],
  rows: readonly (StaleRow & { readonly fresh: Buffer })[],
): Promise<void> {
  const arrays = key.map(({ type }, at) => sql`${rows.map(row => row.key[at])}::${sql.raw(type)}[]`);
  const names = key.map((_, at) => sql.ref(`k${at}`));
  const matches = key.map(({ name }, at) => sql`t.${sql.ref(name)} = v.${sql.ref(`k${at}`)}`);
  await sql`
    /* cross-tenant: the secret key applies to the whole database */
    update ${sql.table(table)} t set ${sql.ref(column)} = v.fresh
    from unnest(${sql.join(arrays)}, ${rows.map(row => row.sealed)}::bytea[], ${rows.map(row => row.fresh)}::bytea[])
      as v (${sql.join(names)}, old, fresh)
    where ${sql.join(matches, sql` and `)} and t.${sql.ref(column)} = v.old`.execute(db);
}
