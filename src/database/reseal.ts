import type { SecretBox } from '../platform/crypto.ts';
import type { Db } from './database.ts';
import { countColumn, primaryKeyOf, readStale, replaceSealed, SEALED_COLUMNS } from './sealed-values.sql.ts';

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
    counts.push({ column: `${table}.${column}`, ...(await countColumn(db, table, column, box.sealHeader)) });
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
    const rows = await readStale(db, table, column, box.sealHeader, key, { after: last, limit: BATCH });
    const fresh = rows.map(row => resealValue(box, row.sealed));
    const changed = rows.flatMap((row, index) => (fresh[index] ? [{ ...row, fresh: fresh[index] }] : []));
    if (changed.length > 0) await replaceSealed(db, table, column, key, changed);
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
