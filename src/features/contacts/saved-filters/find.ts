import type { Db } from '../../../database/database.ts';
import type { SavedFilterRow } from './saved-filter.ts';
import { getSavedFilters } from './store.ts';

/** The saved filter of an id, for other features; undefined if the account has none with it. */
export async function findSavedFilter(db: Db, tenantId: number, id: number): Promise<SavedFilterRow | undefined> {
  const [saved] = await getSavedFilters(db, tenantId, [id]);
  return saved;
}
