import type { Db } from '../../platform/database.ts';
import { SLUG } from './create.ts';
import { findTenant } from './store.ts';

/** Whether there is a tenant of this name, for callers who have shown a token. */
export const isTenant = async (db: Db, slug: string): Promise<boolean> =>
  SLUG.test(slug) && (await findTenant(db, slug)) !== undefined;
