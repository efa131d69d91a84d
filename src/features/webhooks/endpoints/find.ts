import type { Context } from '../../../schema/context.ts';
import { findByNumber, findByUuid } from '../../../schema/nodes.ts';
import type { DeliveryRow } from '../log/delivery.ts';
import { getDeliveries } from '../log/store.ts';
import type { EndpointRow } from './endpoint.ts';
import { getEndpoints } from './store.ts';

/** @param id global id or databaseId @returns null if the tenant has no such endpoint */
export const endpointById = (context: Context, id: string): Promise<EndpointRow | null> =>
  findByNumber(context, 'WebhookEndpoint', id, getEndpoints);

/** @param id global id or databaseId @returns null if the tenant has no such delivery */
export const deliveryById = (context: Context, id: string): Promise<DeliveryRow | null> =>
  findByUuid(context, 'WebhookDelivery', id, getDeliveries);
