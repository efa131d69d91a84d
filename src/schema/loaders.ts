import DataLoader from 'dataloader';
import type { Database, Db } from '../database/database.ts';

/** Reads what belongs to some keys of one tenant: one value for each key, in the order of the keys. */
type LoadMany<Key, Value> = (db: Db, tenantId: number, keys: readonly Key[]) => Promise<readonly Value[]>;

/**
 * The dataloaders of one operation, or of one event of a subscription (rows that are kept longer would be stale). Each is made
 * when it is first used: most operations use none. In a mutation (`cache` false) they only batch: what one of its fields has
 * read, the next one may have changed.
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

/** Declares a loader of a feature: `const contactLoader = rowLoader(getContacts)`, then `contactLoader(context).load(id)`. */
export const loader =
  <Key, Value>(load: LoadMany<Key, Value>) =>
  ({ loaders }: WithLoaders): DataLoader<Key, Value> =>
    loaders.of(load);

/** Rows by a column that is unique among them; undefined where the tenant has none. */
export const rowLoaderBy = <Column extends string, Key, Row extends { readonly [Name in Column]: Key | null }>(
  column: Column,
  load: (db: Db, tenantId: number, keys: readonly Key[]) => Promise<readonly Row[]>,
) =>
  loader<Key, Row | undefined>(async (db, tenantId, keys) => {
    const byKey = new Map<Key | null, Row>((await load(db, tenantId, keys)).map(row => [row[column], row]));
    return keys.map(key => byKey.get(key));
  });

/** Rows by id; undefined where the tenant has none. */
export const rowLoader = <Id extends number | string, Row extends { readonly id: Id }>(
  load: (db: Db, tenantId: number, ids: readonly Id[]) => Promise<readonly Row[]>,
) => rowLoaderBy<'id', Id, Row>('id', load);

/** Values by id, `absent` where there is none. */
export const valueLoader = <Value>(
  load: (db: Db, tenantId: number, ids: readonly number[]) => Promise<Map<number, Value>>,
  absent: Value,
) =>
  loader<number, Value>(async (db, tenantId, ids) => {
    const byId = await load(db, tenantId, ids);
    return ids.map(id => byId.get(id) ?? absent);
  });
