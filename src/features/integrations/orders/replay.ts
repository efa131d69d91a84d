import { conflict, FieldErrorList, invalid } from '../../../core/errors.ts';
import { requireFeature } from '../../../core/plan-features.ts';
import { callerOf, tenantOf } from '../../../core/principal.ts';
import type { Db } from '../../../database/database.ts';
import type { Context } from '../../../schema/context.ts';
import { once } from '../../tenancy/idempotency/once.ts';
import { requireDelivery, requireIntegration } from '../find.ts';
import { requireMappingScopes } from '../mappings/require-mapping-scopes.ts';
import { getDeliveries, replayDelivery, replaySince } from './deliveries.sql.ts';
import { type DeliveryRow, INTEGRATIONS, laneOf, type Outcome } from './delivery.ts';

/**
 * Processes a payload again with the current mappings. A mapping that was applied to the order in this status is not applied again,
 * unless the replay is forced.
 *
 * @throws NOT_FOUND, CONFLICT while it is queued, or once it was erased; INSUFFICIENT_SCOPE for what the mappings do
 */
export async function replay(
  context: Context,
  id: string,
  isForced: boolean,
  key: string | null | undefined,
): Promise<DeliveryRow> {
  requireFeature(callerOf(context).tenant, 'integrations');
  const tenantId = tenantOf(context);
  const delivery = await once<DeliveryRow>(
    context,
    { operation: 'replayIntegrationDelivery', key, input: { id, isForced } },
    {
      run: trx => requeue(context, trx, id, isForced),
      store: () => ({ id }),
      rebuild: () => requireDelivery(context.db.write, tenantId, id),
    },
  );
  context.lanes.wake(INTEGRATIONS, laneOf(tenantId, delivery.integration_id));
  return delivery;
}

async function requeue(context: Context, trx: Db, id: string, isForced: boolean): Promise<DeliveryRow> {
  const tenantId = tenantOf(context);
  const isWaiting = await replayDelivery(trx, tenantId, id, isForced);
  const found = await requireDelivery(trx, tenantId, id);
  if (!isWaiting && found.erased_at !== null) throw conflict('The payload was erased because its contact was deleted.');
  const { mappings } = await requireIntegration(trx, tenantId, found.integration_id);
  requireMappingScopes(callerOf(context), mappings);
  if (!isWaiting) throw conflict('The payload is still queued. Replay it when it has been processed.');
  return found;
}

export interface ReplayedDeliveries {
  /** The replayed deliveries if ids were given; empty for a replay since a time, which may concern thousands. */
  readonly integrationDeliveries: readonly DeliveryRow[];
  readonly count: number;
  /** Whether there may be more: the call reached its limit. */
  readonly hasMore: boolean;
  /** Time of receipt of the last one, from which the next call continues; null if there was none. */
  readonly lastReceivedAt: string | null;
}

/** Payloads since an instant in one call. */
export const MAX_REPLAYED = 10_000;
/** Named payloads in one call. */
export const MAX_REPLAYED_IDS = 100;

/** Named payloads, or those of an integration since an instant. */
export type ReplayRequest =
  | { readonly ids: readonly string[] }
  | { readonly integrationId: number; readonly since: string; readonly outcomes: readonly Outcome[] };

/**
 * Processes payloads again: named ones, or those of an integration that were received since an instant and had one of these
 * outcomes, in order of receipt. Mappings that were applied are not applied again; replay a single payload to force that.
 *
 * @throws NOT_FOUND for the integration, VALIDATION_ERROR, CONFLICT for named payloads that are queued or erased; INSUFFICIENT_SCOPE
 *   for what the mappings do
 */
export async function replayAll(
  context: Context,
  request: ReplayRequest,
  key: string | null | undefined,
): Promise<ReplayedDeliveries> {
  requireFeature(callerOf(context).tenant, 'integrations');
  const tenantId = tenantOf(context);
  const replayed = await once<ReplayedDeliveries>(
    context,
    { operation: 'replayIntegrationDeliveries', key, input: request },
    {
      run: trx => ('ids' in request ? replayNamed(context, trx, request.ids) : replayReceived(context, trx, request)),
      store: ({ integrationDeliveries, ...rest }) => ({ ...rest, ids: integrationDeliveries.map(({ id }) => id) }),
      rebuild: async stored => {
        const { ids, ...rest } = stored as Omit<ReplayedDeliveries, 'integrationDeliveries'> & { ids: string[] };
        return { ...rest, integrationDeliveries: await getDeliveries(context.db.write, tenantId, ids) };
      },
    },
  );
  const integrations =
    'ids' in request ? replayed.integrationDeliveries.map(row => row.integration_id) : [request.integrationId];
  if (replayed.count > 0)
    for (const id of new Set(integrations)) context.lanes.wake(INTEGRATIONS, laneOf(tenantId, id));
  return replayed;
}

async function replayNamed(context: Context, trx: Db, ids: readonly string[]): Promise<ReplayedDeliveries> {
  const found = new Set((await getDeliveries(trx, tenantOf(context), ids)).map(({ id }) => id));
  const errors = new FieldErrorList();
  for (const [index, id] of ids.entries())
    if (!found.has(id)) errors.add(`ids.${index}`, 'IntegrationDelivery not found.', 'REFERENCE_NOT_FOUND');
  errors.throwIfAny();
  const integrationDeliveries: DeliveryRow[] = [];
  for (const id of [...found].sort()) integrationDeliveries.push(await requeue(context, trx, id, false));
  const lastReceivedAt = integrationDeliveries.at(-1)?.received_at ?? null;
  return { integrationDeliveries, count: integrationDeliveries.length, hasMore: false, lastReceivedAt };
}

async function replayReceived(
  context: Context,
  trx: Db,
  { integrationId, since, outcomes }: Extract<ReplayRequest, { readonly integrationId: number }>,
): Promise<ReplayedDeliveries> {
  const tenantId = tenantOf(context);
  if (outcomes.length === 0) throw invalid({ outcomes: ['At least one is required.'] }, 'REQUIRED');
  if (outcomes.includes('waiting')) throw invalid({ outcomes: ['Queued payloads are processed anyway.'] });
  const { mappings } = await requireIntegration(trx, tenantId, integrationId, 'integrationId');
  requireMappingScopes(callerOf(context), mappings);
  const replayed = await replaySince(trx, tenantId, integrationId, since, outcomes, MAX_REPLAYED);
  const { count, last_received_at: lastReceivedAt } = replayed;
  return { integrationDeliveries: [], count, hasMore: count >= MAX_REPLAYED, lastReceivedAt };
}
