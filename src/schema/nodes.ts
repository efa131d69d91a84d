import { parseId, parseUuid } from '../core/global-ids.ts';
import { isUuid } from '../core/ids.ts';
import { tenantOf } from '../core/principal.ts';
import type { Scope } from '../core/scopes.ts';
import type { Db } from '../database/database.ts';
import type { Context } from './context.ts';

/** Reads rows of one table by their keys, in any order; leaves out keys that the tenant does not have. */
export type Getter<Key, Row> = (db: Db, tenantId: number, keys: readonly Key[]) => Promise<readonly Row[]>;

type LoadMany<Row> = (ids: readonly string[], context: Context) => Promise<(Row | undefined)[]>;

/**
 * `loadManyWithoutCache` of a node type with numeric keys: null for ids that are missing or that the token may not read. With its cache, Pothos
 * returns an object without its type to the second field of a request that finds it.
 * @param currentIds returns what former ids stand for now, index by index; called only for ids that have no row
 */
export const nodesByNumber = <Row extends { readonly id: number }>(
  scope: Scope,
  get: Getter<number, Row>,
  currentIds?: (db: Db, tenantId: number, ids: readonly number[]) => Promise<readonly number[]>,
): LoadMany<Row> => {
  return async (ids, context) => {
    if (!context.principal?.scopes.has(scope)) return ids.map(() => undefined);
    const read = context.db.read;
    const tenantId = tenantOf(context);
    const keys = ids.map(Number).filter(Number.isSafeInteger);
    const rows = new Map((await get(read, tenantId, keys)).map(row => [row.id, row]));
    const missing = keys.filter(key => !rows.has(key));
    if (currentIds && missing.length > 0) {
      const current = await currentIds(read, tenantId, missing);
      const found = new Map((await get(read, tenantId, current)).map(row => [row.id, row]));
      for (const [index, key] of missing.entries()) {
        const row = found.get(current[index] ?? key);
        if (row) rows.set(key, row);
      }
    }
    return ids.map(id => rows.get(Number(id)));
  };
};

/** As `nodesByNumber`, for keys that are UUIDs. */
export const nodesByUuid = <Row extends { readonly id: string }>(
  scopes: Scope | readonly Scope[],
  get: Getter<string, Row>,
): LoadMany<Row> => {
  return async (ids, context) => {
    if (![scopes].flat().every(scope => context.principal?.scopes.has(scope))) return ids.map(() => undefined);
    const rows = await get(context.db.read, tenantOf(context), ids.filter(isUuid));
    return ids.map(id => rows.find(row => row.id === id.toLowerCase()));
  };
};

/** Returns the row of a global id or databaseId; null if it does not exist or the text is not an id of this type. */
export async function findByNumber<Row>(
  context: Context,
  typename: string,
  text: string,
  get: Getter<number, Row>,
): Promise<Row | null> {
  const key = parseId(tenantOf(context), typename, text);
  return (key !== undefined && (await get(context.db.read, tenantOf(context), [key]))[0]) || null;
}

/** As `findByNumber`, for keys that are UUIDs. */
export async function findByUuid<Row>(
  context: Context,
  typename: string,
  text: string,
  get: Getter<string, Row>,
): Promise<Row | null> {
  const key = parseUuid(tenantOf(context), typename, text);
  return (key !== undefined && (await get(context.db.read, tenantOf(context), [key]))[0]) || null;
}
