import { scopesToRead } from '../../../core/events.ts';
import { callerOf } from '../../../core/principal.ts';
import type { Context } from '../../../schema/context.ts';
import { renderBody } from '../delivery/formats.ts';
import { bodyLoader, endpointLoader } from '../loaders.ts';
import type { DeliveryRow } from './delivery.ts';

/**
 * The body that is posted for a delivery, in the format that its endpoint has now. It is made of the event, so that it is stored once.
 * @returns null if the event is no longer in the log, the endpoint was deleted, or the token may not read events of this type
 */
export async function requestBody(context: Context, delivery: DeliveryRow): Promise<string | null> {
  const { scopes, tenant } = callerOf(context);
  if (!scopesToRead([delivery.event_type]).every(scope => scopes.has(scope))) return null;
  const [endpoint, event] = await Promise.all([
    endpointLoader(context).load(delivery.endpoint_id),
    bodyLoader(context).load(delivery.event_id),
  ]);
  if (!endpoint || !event) return null;
  const { id, type, payload, occurred_at: occurredAt, is_sandbox: isSandbox } = event;
  return renderBody(endpoint.format, { id, type, payload, occurredAt, tenant, isSandbox: isSandbox ?? false });
}
