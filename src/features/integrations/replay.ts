import type { Context } from '../../context.ts';
import { conflict, invalid } from '../../errors.ts';
import { callerOf, tenantOf } from '../caller.ts';
import { requireFeature } from '../tenants/feature.ts';
import { replayDelivery, replaySince } from './deliveries-store.ts';
import type { DeliveryRow, Outcome } from './delivery.ts';
import { deliveryOf, integrationOf } from './find.ts';
import { INTEGRATIONS, laneOf } from './lane.ts';

/**
 * Has a payload worked on again, by the mappings as they are now. What a mapping has done for the order in this status is not
 * done again, unless the replay is forced: then everything is.
 *
 * @throws NOT_FOUND, CONFLICT while it still waits to be worked on, or once it was erased
 */
export async function replay(context: Context, id: string, isForced: boolean): Promise<DeliveryRow> {
  requireFeature(callerOf(context).tenant, 'integrations');
  const tenantId = tenantOf(context);
  const { db, clock, jobs } = context;
  const delivery = await db.transaction(async trx => {
    const isWaiting = await replayDelivery(trx, tenantId, id, isForced, new Date(clock.now()).toISOString());
    const found = await deliveryOf(trx, tenantId, id);
    if (!isWaiting && found.erased_at !== null)
      throw conflict('Its payload was erased when its contact was deleted: there is nothing to work on.');
    if (!isWaiting) throw conflict('It still waits to be worked on. Replay it when that is done.');
    return found;
  });
  jobs.wake(INTEGRATIONS, laneOf(tenantId, delivery.integration_id));
  return delivery;
}

export interface ReplayedDeliveries {
  readonly count: number;
  /** Whether there may be more: the call reached its limit. */
  readonly hasMore: boolean;
  /** When the last of them came: where the next call goes on. Null where there was none. */
  readonly lastReceivedAt: string | null;
}

/** Payloads in one call. */
export const MAX_REPLAYED = 10_000;

/**
 * Has the payloads of an integration worked on again that came since then and came to one of these outcomes, in the order in which
 * they came. What was done is not done again: to force that, payloads are replayed one by one.
 *
 * @throws NOT_FOUND for the integration, VALIDATION_ERROR
 */
export async function replayAll(
  context: Context,
  { integrationId, since, outcomes }: { integrationId: number; since: string; outcomes: readonly Outcome[] },
): Promise<ReplayedDeliveries> {
  requireFeature(callerOf(context).tenant, 'integrations');
  const tenantId = tenantOf(context);
  const { db, clock, jobs } = context;
  if (outcomes.length === 0) throw invalid({ outcomes: ['Name at least one.'] });
  if (outcomes.includes('waiting')) throw invalid({ outcomes: ['What waits is worked on anyway.'] });
  const nowIso = new Date(clock.now()).toISOString();
  const { count, last_received_at: lastReceivedAt } = await db.transaction(async trx => {
    await integrationOf(trx, tenantId, integrationId);
    return replaySince(trx, tenantId, integrationId, since, outcomes, MAX_REPLAYED, nowIso);
  });
  if (count > 0) jobs.wake(INTEGRATIONS, laneOf(tenantId, integrationId));
  return { count, hasMore: count >= MAX_REPLAYED, lastReceivedAt };
}
