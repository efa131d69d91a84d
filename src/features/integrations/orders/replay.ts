import { conflict, invalid } from '../../../core/errors.ts';
import { requireFeature } from '../../../core/plan-features.ts';
import { callerOf, tenantOf } from '../../../core/principal.ts';
import type { Context } from '../../../schema/context.ts';
import { deliveryOf, integrationOf } from '../find.ts';
import { requireMappingScopes } from '../mappings/require-mapping-scopes.ts';
import { replayDelivery, replaySince } from './deliveries.sql.ts';
import { type DeliveryRow, INTEGRATIONS, laneOf, type Outcome } from './delivery.ts';

/**
 * Processes a payload again with the current mappings. A mapping that was applied to the order in this status is not applied again,
 * unless the replay is forced.
 *
 * @throws NOT_FOUND, CONFLICT while it is queued, or once it was erased; INSUFFICIENT_SCOPE for what the mappings do
 */
export async function replay(context: Context, id: string, isForced: boolean): Promise<DeliveryRow> {
  requireFeature(callerOf(context).tenant, 'integrations');
  const tenantId = tenantOf(context);
  const { db, lanes } = context;
  const delivery = await db.transaction(async trx => {
    const isWaiting = await replayDelivery(trx, tenantId, id, isForced);
    const found = await deliveryOf(trx, tenantId, id);
    if (!isWaiting && found.erased_at !== null)
      throw conflict('The payload was erased because its contact was deleted.');
    const { mappings } = await integrationOf(trx, tenantId, found.integration_id);
    requireMappingScopes(callerOf(context), mappings);
    if (!isWaiting) throw conflict('The payload is still queued. Replay it when it has been processed.');
    return found;
  });
  lanes.wake(INTEGRATIONS, laneOf(tenantId, delivery.integration_id));
  return delivery;
}

export interface ReplayedDeliveries {
  readonly count: number;
  /** Whether there may be more: the call reached its limit. */
  readonly hasMore: boolean;
  /** Time of receipt of the last one, from which the next call continues; null if there was none. */
  readonly lastReceivedAt: string | null;
}

/** Payloads in one call. */
export const MAX_REPLAYED = 10_000;

/**
 * Processes the payloads of an integration again that were received since an instant and had one of these outcomes, in order of
 * receipt. Mappings that were applied are not applied again; replay a single payload to force that.
 *
 * @throws NOT_FOUND for the integration, VALIDATION_ERROR, INSUFFICIENT_SCOPE for what the mappings do
 */
export async function replayAll(
  context: Context,
  { integrationId, since, outcomes }: { integrationId: number; since: string; outcomes: readonly Outcome[] },
): Promise<ReplayedDeliveries> {
  requireFeature(callerOf(context).tenant, 'integrations');
  const tenantId = tenantOf(context);
  const { db, lanes } = context;
  if (outcomes.length === 0) throw invalid({ outcomes: ['At least one is required.'] });
  if (outcomes.includes('waiting')) throw invalid({ outcomes: ['Queued payloads are processed anyway.'] });
  const { count, last_received_at: lastReceivedAt } = await db.transaction(async trx => {
    const { mappings } = await integrationOf(trx, tenantId, integrationId);
    requireMappingScopes(callerOf(context), mappings);
    return replaySince(trx, tenantId, integrationId, since, outcomes, MAX_REPLAYED);
  });
  if (count > 0) lanes.wake(INTEGRATIONS, laneOf(tenantId, integrationId));
  return { count, hasMore: count >= MAX_REPLAYED, lastReceivedAt };
}
