import type { Context } from '../../context.ts';
import { notFound } from '../../errors.ts';
import { numericId, uuidOf } from '../../global-ids.ts';
import { tenantOf } from '../caller.ts';
import { getDeliveries } from './deliveries-store.ts';
import type { DeliveryRow } from './delivery.ts';
import type { EndpointRow } from './endpoint.ts';
import { getEndpoints } from './endpoints-store.ts';

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
