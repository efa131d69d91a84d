import type { Db } from '../../database/database.ts';
import { cancelDeliveries, type ErasedDelivery } from './delivery/queue.sql.ts';
import { deleteResponses } from './log/store.ts';

const CANCELLED = 'Cancelled: the contact was erased.';

/** Cancels queued deliveries about contacts, and removes the stored responses of the others; at most `limit` deliveries. */
export async function eraseDeliveries(
  trx: Db,
  tenantId: number,
  contactIds: readonly number[],
  nowIso: string,
  limit: number,
): Promise<ErasedDelivery[]> {
  const ended = await cancelDeliveries(trx, tenantId, contactIds, CANCELLED, nowIso, limit);
  const ids = ended.map(({ id }) => id);
  // A separate statement: it sees attempts that were recorded while the first one waited for their deliveries' locks.
  if (ids.length > 0) await deleteResponses(trx, tenantId, ids);
  return ended;
}
