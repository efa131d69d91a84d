import type { Context } from '../../context.ts';
import { conflict } from '../../errors.ts';
import { callerOf, tenantOf } from '../caller.ts';
import { requireFeature } from '../tenants/feature.ts';
import { replayDelivery } from './deliveries-store.ts';
import type { DeliveryRow } from './delivery.ts';
import { deliveryOf } from './find.ts';
import { INTEGRATIONS, laneOf } from './lane.ts';

/**
 * Has a payload worked on again, by the mappings as they are now. What a mapping has done for the order in this status is not
 * done again, unless the replay is forced: then everything is.
 *
 * @throws NOT_FOUND, CONFLICT while it still waits to be worked on
 */
export async function replay(context: Context, id: string, isForced: boolean): Promise<DeliveryRow> {
  requireFeature(callerOf(context).tenant, 'integrations');
  const tenantId = tenantOf(context);
  const { db, clock, jobs } = context;
  const delivery = await db.transaction(async trx => {
    const isWaiting = await replayDelivery(trx, tenantId, id, isForced, new Date(clock.now()).toISOString());
    const found = await deliveryOf(trx, tenantId, id);
    if (!isWaiting) throw conflict('It still waits to be worked on. Replay it when that is done.');
    return found;
  });
  jobs.wake(INTEGRATIONS, laneOf(tenantId, delivery.integration_id));
  return delivery;
}
