import type { Context } from '../../context.ts';
import { conflict, notFound } from '../../errors.ts';
import type { Db } from '../../platform/database.ts';
import { tenantOf } from '../caller.ts';
import { once } from '../idempotency/once.ts';
import { getDeliveries, requeueDelivery, requeueSince } from './deliveries-store.ts';
import type { DeliveryRow } from './delivery.ts';
import type { EndpointRow } from './endpoint.ts';
import { getEndpoints } from './endpoints-store.ts';
import { shardOf, WEBHOOKS } from './lane.ts';

const wake = ({ jobs }: Context, endpointId: number): void => jobs.wake(WEBHOOKS, String(shardOf(endpointId)));

function requireEnabled(endpoint: EndpointRow): void {
  if (!endpoint.enabled) throw conflict('The endpoint is disabled: enable it first.');
}

/**
 * Delivers an event again, now, under the same id; should it fail, it is tried again by the table of retries.
 * @param endpointId whose delivery it has to be, where that is known
 * @param key makes a repeated request the same one
 * @throws NOT_FOUND; CONFLICT when the endpoint is disabled or gone; IDEMPOTENCY_MISMATCH
 */
export async function replayDelivery(
  context: Context,
  id: string,
  endpointId: number | undefined,
  key: string | null | undefined,
): Promise<DeliveryRow> {
  const tenantId = tenantOf(context);
  const delivery = await once(
    context,
    { operation: 'replayWebhookDelivery', key, input: { id, endpointId } },
    {
      run: trx => requeue(trx, tenantId, id, endpointId, new Date(context.clock.now()).toISOString()),
      store: () => ({ id }),
      again: async () => {
        const [present] = await getDeliveries(context.db.write, tenantId, [id]);
        if (!present) throw notFound('WebhookDelivery');
        return present;
      },
    },
  );
  wake(context, delivery.endpoint_id);
  return delivery;
}

async function requeue(
  trx: Db,
  tenantId: number,
  id: string,
  endpointId: number | undefined,
  nowIso: string,
): Promise<DeliveryRow> {
  const [delivery] = await getDeliveries(trx, tenantId, [id]);
  if (!delivery || (endpointId !== undefined && delivery.endpoint_id !== endpointId)) throw notFound('WebhookDelivery');
  const [endpoint] = await getEndpoints(trx, tenantId, [delivery.endpoint_id]);
  if (!endpoint) throw conflict('The endpoint was deleted.');
  requireEnabled(endpoint);
  const queued = await requeueDelivery(trx, tenantId, id, nowIso);
  if (!queued) throw notFound('WebhookDelivery');
  return queued;
}

export interface ReplayedDeliveries {
  readonly count: number;
  /** Whether there may be more: the call reached its limit. */
  readonly hasMore: boolean;
}

/** Deliveries in one call. */
export const MAX_REPLAYED = 10_000;

/**
 * Delivers again, in their order, what an endpoint was to get since then: what failed, or everything.
 * @throws NOT_FOUND; CONFLICT when the endpoint is disabled
 */
export async function replayDeliveries(
  context: Context,
  { endpointId, since, onlyFailed }: { endpointId: number; since: string; onlyFailed: boolean },
): Promise<ReplayedDeliveries> {
  const [endpoint] = await getEndpoints(context.db.write, tenantOf(context), [endpointId]);
  if (!endpoint) throw notFound('WebhookEndpoint');
  requireEnabled(endpoint);
  const nowIso = new Date(context.clock.now()).toISOString();
  const count = await requeueSince(
    context.db.write,
    tenantOf(context),
    endpointId,
    since,
    onlyFailed,
    MAX_REPLAYED,
    nowIso,
  );
  if (count > 0) wake(context, endpointId);
  return { count, hasMore: count >= MAX_REPLAYED };
}
