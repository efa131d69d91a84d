import { notFound } from '../../../core/errors.ts';
import { numericId, uuidOf } from '../../../core/global-ids.ts';
import { tenantOf } from '../../../core/principal.ts';
import type { Context } from '../../../schema/context.ts';
import type { DeliveryRow } from '../log/delivery.ts';
import { getDeliveries } from '../log/store.ts';
import type { EndpointRow } from './endpoint.ts';
import { getEndpoints } from './store.ts';

/** @param id global id or databaseId @throws NOT_FOUND */
export async function findEndpoint(context: Context, id: string): Promise<EndpointRow> {
  const [endpoint] = await getEndpoints(context.db.read, tenantOf(context), [numericId('WebhookEndpoint', id)]);
  if (!endpoint) throw notFound('WebhookEndpoint');
  return endpoint;
}

/** @param id global id or databaseId @throws NOT_FOUND */
export async function findDelivery(context: Context, id: string): Promise<DeliveryRow> {
  const [delivery] = await getDeliveries(context.db.read, tenantOf(context), [uuidOf('WebhookDelivery', id)]);
  if (!delivery) throw notFound('WebhookDelivery');
  return delivery;
}
