import type { Resources } from '../../context.ts';
import type { Db } from '../../platform/database.ts';
import { laneOf, TEMPLATE_SYNCS } from './lane.ts';
import { requestSyncs } from './syncs-store.ts';

/**
 * Has the templates of an account read soon by a worker, without waiting for it: in the transaction that connects a channel,
 * so that neither is a connection slower for it nor can the wish be lost.
 */
export const requestSync = async (trx: Db, tenantId: number, wabaId: string): Promise<void> =>
  void (await requestSyncs(trx, tenantId, [wabaId]));

/** As `requestSync` for several accounts, and at once. Those that are none of the tenant's are left out. */
export async function syncSoon(
  { db, jobs }: Pick<Resources, 'db' | 'jobs'>,
  tenantId: number,
  wabaIds: readonly string[],
): Promise<void> {
  if (wabaIds.length === 0) return;
  for (const wabaId of await requestSyncs(db.write, tenantId, wabaIds))
    jobs.wake(TEMPLATE_SYNCS, laneOf(tenantId, wabaId));
}
