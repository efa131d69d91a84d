import type { Db } from '../../../database/database.ts';
import type { Resources } from '../../../schema/context.ts';
import { requestSyncs } from './runs.sql.ts';

/** The queue of template syncs, with a lane per business account of a tenant. */
export const TEMPLATE_SYNCS = 'template-syncs';

const laneKey = (tenantId: number, wabaId: string): string => `${tenantId}:${wabaId}`;

export function parseLaneKey(key: string): { tenantId: number; wabaId: string } {
  const [tenantId = '', wabaId = ''] = key.split(/:(.*)/s);
  return { tenantId: Number(tenantId), wabaId };
}

/**
 * Schedules a sync in the transaction that connects a channel, for a worker to run: connecting does not wait for the network, and
 * the sync is not lost.
 */
export const requestSync = async (trx: Db, tenantId: number, wabaId: string): Promise<void> =>
  void (await requestSyncs(trx, tenantId, [wabaId]));

/** Schedules syncs and wakes their lanes. Accounts of other tenants are ignored. */
export async function syncSoon(
  { db, lanes }: Pick<Resources, 'db' | 'lanes'>,
  tenantId: number,
  wabaIds: readonly string[],
): Promise<void> {
  if (wabaIds.length === 0) return;
  for (const wabaId of await requestSyncs(db.write, tenantId, wabaIds))
    lanes.wake(TEMPLATE_SYNCS, laneKey(tenantId, wabaId));
}
