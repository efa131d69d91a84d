import { type RawBuilder, sql } from 'kysely';
import type { SecretBox } from '../platform/crypto.ts';
import type { Db } from './database.ts';

/** Columns whose values are sealed under PARLEY_SECRET_KEY. A test compares them with the bytea columns of the database. */
export const SEALED_COLUMNS: readonly { readonly table: string; readonly columns: readonly string[] }[] = [
  { table: 'channels', columns: ['access_token_sealed', 'app_secret_sealed'] },
  { table: 'webhook_endpoints', columns: ['secret', 'previous_secret', 'headers'] },
  { table: 'integrations', columns: ['secret_sealed', 'previous_secret_sealed'] },
  { table: 'erasure_receipts', columns: ['pending'] },
  { table: 'outbox', columns: ['sealed'] },
];

const BATCH = 500;

/** How many values of one column are sealed under a key other than the current one. */
export interface SealedCount {
  readonly column: string;
  readonly total: number;
  readonly stale: number;
}

export interface Resealed {
  readonly column: string;
  /** Number of resealed values. */
  readonly done: number;
  /** Number of values that neither key opens. */
  readonly unreadable: number;
}

/**
 * Every sealed column of the database. The key check comes last, so that the old key is refused only when all values are
 * resealed.
 */
const COLUMNS = [
  ...SEALED_COLUMNS.flatMap(({ table, columns }) => columns.map(column => ({ table, column }))),
  { table: 'deployment', column: 'digest_key_sealed' },
];

/** Counts sealed values, and those not under the current key. */
export async function countSealed(db: Db, box: SecretBox): Promise<SealedCount[]> {
  const counts: SealedCount[] = [];
  for (const { table, column } of COLUMNS) {
    const { rows } = await sql<{ total: number; stale: number }>`
      /* cross-tenant: the secret key applies to the whole database */
      select count(*)::int as total, (count(*) filter (where ${isStale(column, box)}))::int as stale
      from ${sql.table(table)} where ${sql.ref(column)} is not null`.execute(db);
    counts.push({ column: `${table}.${column}`, total: rows[0]?.total ?? 0, stale: rows[0]?.stale ?? 0 });
  }
  return counts;
}

/**
 * Reseals every value under the current key, in batches that commit separately: it can be interrupted and restarted. A value that
 * changes concurrently is left unchanged.
 * @param onBatch called after each batch
 */
export async function reseal(db: Db, box: SecretBox, onBatch: (resealed: Resealed) => void): Promise<Resealed[]> {
  const all: Resealed[] = [];
  for (const { table, column } of COLUMNS) {
    const isKeyCheck = table === 'deployment';
    if (isKeyCheck && all.some(({ unreadable }) => unreadable > 0)) break;
    all.push(await resealColumn(db, box, table, column, onBatch));
  }
  return all;
}

async function resealColumn(
  db: Db,
  box: SecretBox,
  table: string,
  column: string,
  onBatch: (resealed: Resealed) => void,
): Promise<Resealed> {
  const key = await primaryKeyOf(db, table);
  let [done, unreadable] = [0, 0];
  for (let last: readonly string[] | undefined; ; ) {
    const rows = await readStale(db, box, table, column, key, last);
    const fresh = rows.map(row => resealValue(box, row.sealed));
    const changed = rows.flatMap((row, index) => (fresh[index] ? [{ ...row, fresh: fresh[index] }] : []));
    if (changed.length > 0) await update(db, table, column, key, changed);
    done += changed.length;
    unreadable += rows.length - changed.length;
    const state = { column: `${table}.${column}`, done, unreadable };
    if (rows.length > 0) onBatch(state);
    if (rows.length < BATCH) return state;
    last = rows.at(-1)?.key;
  }
}

function resealValue(box: SecretBox, sealed: Buffer): Buffer | undefined {
  try {
    return box.seal(box.open(sealed));
  } catch {
    return undefined;
  }
}

interface KeyColumn {
  readonly name: string;
  readonly type: string;
}

interface StaleRow {
  readonly key: readonly string[];
  readonly sealed: Buffer;
}

const isStale = (column: string, { sealHeader }: SecretBox): RawBuilder<boolean> =>
  sql`substring(${sql.ref(column)} from 1 for ${sql.lit(sealHeader.length)}) <> ${sealHeader}`;

async function readStale(
  db: Db,
  box: SecretBox,
  table: string,
  column: string,
  key: readonly KeyColumn[],
  last: readonly string[] | undefined,
): Promise<StaleRow[]> {
  const names = sql.join(key.map(({ name }) => sql.ref(name)));
  const texts = sql.join(key.map(({ name }) => sql`${sql.ref(name)}::text`));
  const after =
    last && sql`and (${names}) > (${sql.join(key.map(({ type }, at) => sql`${last[at]}::${sql.raw(type)}`))})`;
  const { rows } = await sql<StaleRow>`
    /* cross-tenant: the secret key applies to the whole database */
    select array[${texts}] as key, ${sql.ref(column)} as sealed from ${sql.table(table)}
    where ${sql.ref(column)} is not null and ${isStale(column, box)} ${after ?? sql``}
    order by ${names} limit ${sql.lit(BATCH)}`.execute(db);
  return rows;
}

async function update(
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

async function primaryKeyOf(db: Db, table: string): Promise<KeyColumn[]> {
  const { rows } = await sql<KeyColumn>`
    select a.attname as name, format_type(a.atttypid, a.atttypmod) as type
    from pg_index i join pg_attribute a on a.attrelid = i.indrelid and a.attnum = any(i.indkey)
    where i.indrelid = ${table}::regclass and i.indisprimary
    order by array_position(i.indkey::int2[], a.attnum)`.execute(db);
  return rows;
}
