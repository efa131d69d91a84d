import { conflict, notFound } from '../../../core/errors.ts';
import { EVENT_TYPES, scopesToRead } from '../../../core/events.ts';
import { callerOf, requireScopes, tenantOf } from '../../../core/principal.ts';
import type { Db } from '../../../database/database.ts';
import type { Context } from '../../../schema/context.ts';
import { once } from '../../tenancy/idempotency/once.ts';
import { shardOf, WEBHOOKS } from '../delivery/lane.ts';
import type { EndpointRow } from '../endpoints/endpoint.ts';
import { getEndpoints } from '../endpoints/store.ts';
import type { DeliveryRow } from './delivery.ts';
import { getDeliveries, requeueDelivery, requeueSince } from './store.ts';

const wake = ({ lanes }: Context, endpointId: number): void => lanes.wake(WEBHOOKS, String(shardOf(endpointId)));

function requireEnabled(endpoint: EndpointRow): void {
  if (!endpoint.enabled) throw conflict('The endpoint is disabled: enable it first.');
}

/**
 * Delivers an event again at once, under the same id and with the whole retry schedule.
 * @param endpointId if given, the delivery must belong to this endpoint
 * @param key idempotency key
 * @throws NOT_FOUND; CONFLICT when the endpoint is disabled or gone; IDEMPOTENCY_MISMATCH; INSUFFICIENT_SCOPE without the read
 *   scope of the event
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
      run: trx => requeue(context, trx, id, endpointId),
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

async function requeue(context: Context, trx: Db, id: string, endpointId: number | undefined): Promise<DeliveryRow> {
  const tenantId = tenantOf(context);
  const [delivery] = await getDeliveries(trx, tenantId, [id]);
  if (!delivery || (endpointId !== undefined && delivery.endpoint_id !== endpointId)) throw notFound('WebhookDelivery');
  requireScopes(callerOf(context), scopesToRead([delivery.event_type]));
  const [endpoint] = await getEndpoints(trx, tenantId, [delivery.endpoint_id]);
  if (!endpoint) throw conflict('The endpoint was deleted.');
  requireEnabled(endpoint);
  const queued = await requeueDelivery(trx, tenantId, id);
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
 * Repeats the deliveries to an endpoint since an instant, failed ones or all, in order. Events that the token may not read are left
 * out: the endpoint may have subscribed to them earlier.
 * @throws NOT_FOUND; CONFLICT when the endpoint is disabled; INSUFFICIENT_SCOPE without the read scope of each of its events
 */
export async function replayDeliveries(
  context: Context,
  { endpointId, since, onlyFailed }: { endpointId: number; since: string; onlyFailed: boolean },
): Promise<ReplayedDeliveries> {
  const [endpoint] = await getEndpoints(context.db.write, tenantOf(context), [endpointId]);
  if (!endpoint) throw notFound('WebhookEndpoint');
  const { scopes } = callerOf(context);
  requireScopes({ scopes }, scopesToRead(endpoint.events));
  requireEnabled(endpoint);
  const readable = EVENT_TYPES.filter(type => scopesToRead([type]).every(scope => scopes.has(scope)));
  const count = await requeueSince(
    context.db.write,
    tenantOf(context),
    endpointId,
    since,
    onlyFailed,
    readable,
    MAX_REPLAYED,
  );
  if (count > 0) wake(context, endpointId);
  return { count, hasMore: count >= MAX_REPLAYED };
}
