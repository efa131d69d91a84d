import type { Db } from '../../../database/database.ts';
import { getSurvivorIds } from './store.ts';

/** The ids of the contacts that these were merged into, without those that were not merged. */
export const survivorIds = (db: Db, tenantId: number, formerIds: readonly number[]): Promise<number[]> =>
  getSurvivorIds(db, tenantId, formerIds);
