import DataLoader from 'dataloader';
import type { Database, Db } from '../database/database.ts';

/** Reads the values of several keys of one tenant: one value for each key, in the order of the keys. */
type LoadMany<Key, Value> = (db: Db, tenantId: number, keys: readonly Key[]) => Promise<readonly Value[]>;

/**
 * The dataloaders of one operation, or of one event of a subscription (rows that are cached longer would be stale). Each is created
 * at its first use, because most operations use none. In a mutation (`cache` false) they only batch, because each of its fields may
 * change what an earlier one has read.
 */
export class Loaders {
  readonly #db: Db;
  readonly #tenantId: number;
  readonly #cache: boolean;
  readonly #loaders = new Map<unknown, unknown>();

  constructor(db: Database, tenantId: number, cache = true) {
    this.#db = db.read;
    this.#tenantId = tenantId;
    this.#cache = cache;
  }

  of<Key, Value>(load: LoadMany<Key, Value>): DataLoader<Key, Value> {
    const present = this.#loaders.get(load) as DataLoader<Key, Value> | undefined;
    if (present) return present;
    const loader = new DataLoader<Key, Value>(keys => load(this.#db, this.#tenantId, keys), { cache: this.#cache });
    this.#loaders.set(load, loader);
    return loader;
  }
}

/** Context that a resolver passes to a loader. */
interface WithLoaders {
  readonly loaders: Loaders;
}

/** Declares a loader of a feature: `const labelsLoader = loader(getLabels)`, then `labelsLoader(context).load(id)`. */
export const loader =
  <Key, Value>(load: LoadMany<Key, Value>) =>
  ({ loaders }: WithLoaders): DataLoader<Key, Value> =>
    loaders.of(load);

/** A loader of rows by a unique column; undefined for keys that the tenant does not have. */
export const rowLoaderBy = <Column extends string, Key, Row extends { readonly [Name in Column]: Key | null }>(
  column: Column,
  load: (db: Db, tenantId: number, keys: readonly Key[]) => Promise<readonly Row[]>,
) =>
  loader<Key, Row | undefined>(async (db, tenantId, keys) => {
    const byKey = new Map<Key | null, Row>((await load(db, tenantId, keys)).map(row => [row[column], row]));
    return keys.map(key => byKey.get(key));
  });

/** A loader of rows by id; undefined for ids that the tenant does not have. */
export const rowLoader = <Id extends number | string, Row extends { readonly id: Id }>(
  load: (db: Db, tenantId: number, ids: readonly Id[]) => Promise<readonly Row[]>,
) => rowLoaderBy<'id', Id, Row>('id', load);

/** A loader of values by id. @param absent the value of ids without one */
export const valueLoader = <Value>(
  load: (db: Db, tenantId: number, ids: readonly number[]) => Promise<Map<number, Value>>,
  absent: Value,
) =>
  loader<number, Value>(async (db, tenantId, ids) => {
    const byId = await load(db, tenantId, ids);
    return ids.map(id => byId.get(id) ?? absent);
  });

/**
 * Applies `map` to a value that a list has read with its row, otherwise to the one that `load` reads. A known value is mapped without a
 * promise: one for each row of a list takes longer than the rest of the field.
 */
export const knownOrLoaded = <Value, Result>(
  known: Value | undefined,
  load: () => Promise<Value>,
  map: (value: Value) => Result,
): Result | Promise<Result> => (known === undefined ? load().then(map) : map(known));
