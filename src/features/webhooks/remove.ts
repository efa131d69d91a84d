import type { Context } from '../../context.ts';
import { notFound } from '../../errors.ts';
import { tenantOf } from '../caller.ts';
import type { EndpointRow } from './endpoint.ts';
import { deleteEndpoint } from './endpoints-store.ts';
import { tellOfChange } from './lane.ts';

/** Removes an endpoint. Nothing more is sent to it; what was, can be looked up for as long as deliveries are kept. @throws NOT_FOUND */
export async function removeEndpoint(context: Context, id: number): Promise<EndpointRow> {
  const tenantId = tenantOf(context);
  const endpoint = await deleteEndpoint(context.db.write, tenantId, id);
  if (!endpoint) throw notFound('WebhookEndpoint');
  tellOfChange(context, tenantId, id);
  return endpoint;
}
