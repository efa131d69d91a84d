import { loader } from '../../../schema/loaders.ts';
import { getScheduledAt } from './scheduled.sql.ts';

/** When messages are, or were, to be sent; undefined for those sent at once. */
export const scheduledAtLoader = loader<string, string | undefined>(async (db, tenantId, ids) => {
  const found = await getScheduledAt(db, tenantId, ids);
  return ids.map(id => found.get(id));
});
