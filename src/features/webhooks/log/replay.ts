import { CodedError, conflict, FieldErrorList, notFound } from '../../../core/errors.ts';
import { EVENT_TYPES, scopesToRead } from '../../../core/events.ts';
import { callerOf, requireScopes, tenantOf } from '../../../core/principal.ts';
import type { Db } from '../../../database/database.ts';
import type { Context } from '../../../schema/context.ts';
import { once } from '../../tenancy/idempotency/once.ts';
import { shardOf, WEBHOOKS } from '../delivery/lane.ts';
import type { EndpointRow } from '../endpoints/endpoint.ts';
import { getEndpoints } from '../endpoints/store.ts';
import type { DeliveryRow } from './delivery.ts';
import { getDeliveries, requeueDeliveries, requeueSince } from './store.ts';

const wake = ({ lanes }: Context, endpointId: number): void => lanes.wake(WEBHOOKS, String(shardOf(endpointId)));

function requireEnabled(endpoint: EndpointRow): void {
  if (!endpoint.enabled) throw new CodedError('DISABLED', 'The endpoint is disabled: enable it first.');
}

/**
 * Delivers an event again at once, under the same id and with the whole retry schedule.
 * @param endpointId if given, the delivery must belong to this endpoint
 * @param key idempotency key
 * @throws NOT_FOUND; DISABLED; CONFLICT when the endpoint is gone or the contact erased; IDEMPOTENCY_MISMATCH; INSUFFICIENT_SCOPE without the read
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
      run: async trx => {
        const [found] = await getDeliveries(trx, tenantId, [id]);
        if (!found || (endpointId !== undefined && found.endpoint_id !== endpointId)) throw notFound('WebhookDelivery');
        const [queued] = await requeue(context, trx, [found]);
        if (!queued) throw notFound('WebhookDelivery');
        return queued;
      },
      store: () => ({ id }),
      rebuild: async () => {
        const [present] = await getDeliveries(context.db.write, tenantId, [id]);
        if (!present) throw notFound('WebhookDelivery');
        return present;
      },
    },
  );
  wake(context, delivery.endpoint_id);
  return delivery;
}

/** @throws DISABLED; CONFLICT when an endpoint is gone or a contact erased; INSUFFICIENT_SCOPE without the read scope of each event */
async function requeue(context: Context, trx: Db, deliveries: readonly DeliveryRow[]): Promise<DeliveryRow[]> {
  const tenantId = tenantOf(context);
  requireScopes(callerOf(context), scopesToRead([...new Set(deliveries.map(({ event_type: type }) => type))]));
  const endpointIds = [...new Set(deliveries.map(({ endpoint_id: id }) => id))];
  const endpoints = await getEndpoints(trx, tenantId, endpointIds);
  if (endpoints.length < endpointIds.length) throw conflict('The endpoint was deleted.');
  endpoints.forEach(requireEnabled);
  const queued = await requeueDeliveries(
    trx,
    tenantId,
    deliveries.map(({ id }) => id),
  );
  if (queued.length < deliveries.length)
    throw conflict('The contact of the event was erased: there is nothing to send.');
  return queued;
}

export interface ReplayedDeliveries {
  /** The replayed deliveries if ids were given; empty for a replay since a time, which may concern thousands. */
  readonly webhookDeliveries: readonly DeliveryRow[];
  readonly count: number;
  /** Whether there may be more: the call reached its limit. */
  readonly hasMore: boolean;
}

/** Deliveries since an instant in one call. */
export const MAX_REPLAYED = 10_000;
/** Named deliveries in one call. */
export const MAX_REPLAYED_IDS = 100;

/** Named deliveries, or those to an endpoint since an instant. */
export type ReplayRequest =
  | { readonly ids: readonly string[] }
  | { readonly endpointId: number; readonly since: string; readonly onlyFailed: boolean };

/**
 * Repeats deliveries, in order. Of those since an instant, events of erased contacts are left out, and those that the token may not read:
 * the endpoint may have subscribed to them earlier.
 * @param key idempotency key
 * @throws NOT_FOUND; VALIDATION_ERROR on `ids.<index>` for a delivery that does not exist; DISABLED; CONFLICT when an endpoint is
 *   gone or a contact erased; INSUFFICIENT_SCOPE without the read scope of each event, or of each of the endpoint's events
 */
export async function replayDeliveries(
  context: Context,
  request: ReplayRequest,
  key: string | null | undefined,
): Promise<ReplayedDeliveries> {
  const tenantId = tenantOf(context);
  const replayed = await once<ReplayedDeliveries>(
    context,
    { operation: 'replayWebhookDeliveries', key, input: request },
    {
      run: trx => ('ids' in request ? replayNamed(context, trx, request.ids) : replaySince(context, trx, request)),
      store: ({ webhookDeliveries, ...rest }) => ({ ...rest, ids: webhookDeliveries.map(({ id }) => id) }),
      rebuild: async stored => {
        const { ids, ...rest } = stored as { ids: readonly string[]; count: number; hasMore: boolean };
        const byId = new Map((await getDeliveries(context.db.write, tenantId, ids)).map(row => [row.id, row]));
        return { ...rest, webhookDeliveries: ids.flatMap(id => byId.get(id) ?? []) };
      },
    },
  );
  const endpoints = 'ids' in request ? replayed.webhookDeliveries.map(row => row.endpoint_id) : [request.endpointId];
  if (replayed.count > 0) for (const endpointId of new Set(endpoints)) wake(context, endpointId);
  return replayed;
}

async function replayNamed(context: Context, trx: Db, ids: readonly string[]): Promise<ReplayedDeliveries> {
  const found = new Map((await getDeliveries(trx, tenantOf(context), ids)).map(row => [row.id, row]));
  const errors = new FieldErrorList();
  for (const [index, id] of ids.entries())
    if (!found.has(id)) errors.add(`ids.${index}`, 'WebhookDelivery not found.', 'REFERENCE_NOT_FOUND');
  errors.throwIfAny();
  const queued = new Map((await requeue(context, trx, [...found.values()])).map(row => [row.id, row]));
  const webhookDeliveries = [...new Set(ids)].flatMap(id => queued.get(id) ?? []);
  return { webhookDeliveries, count: webhookDeliveries.length, hasMore: false };
}

async function replaySince(
  context: Context,
  trx: Db,
  { endpointId, since, onlyFailed }: Extract<ReplayRequest, { readonly endpointId: number }>,
): Promise<ReplayedDeliveries> {
  const tenantId = tenantOf(context);
  const [endpoint] = await getEndpoints(trx, tenantId, [endpointId]);
  if (!endpoint) throw notFound('WebhookEndpoint', 'endpointId');
  const { scopes } = callerOf(context);
  requireScopes({ scopes }, scopesToRead(endpoint.events));
  requireEnabled(endpoint);
  const readable = EVENT_TYPES.filter(type => scopesToRead([type]).every(scope => scopes.has(scope)));
  const count = await requeueSince(trx, tenantId, endpointId, since, onlyFailed, readable, MAX_REPLAYED);
  return { webhookDeliveries: [], count, hasMore: count >= MAX_REPLAYED };
}
