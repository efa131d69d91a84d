import { loader, rowLoader } from '../../schema/loaders.ts';
import { getEndpoints } from './endpoints/store.ts';
import { getBodies } from './log/bodies.sql.ts';
import type { AttemptRow } from './log/delivery.ts';
import { getAttempts } from './log/store.ts';

export const endpointLoader = rowLoader(getEndpoints);

/** Attempts by delivery id. */
export const attemptsLoader = loader<string, readonly AttemptRow[]>(async (db, tenantId, ids) => {
  const byDelivery = Map.groupBy(await getAttempts(db, tenantId, ids), row => row.delivery_id);
  return ids.map(id => byDelivery.get(id) ?? []);
});

/** Events with what their bodies contain, by event id. */
export const bodyLoader = rowLoader(getBodies);
