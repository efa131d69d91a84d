import type { Context } from '../../context.ts';
import { notFound } from '../../errors.ts';
import { tenantOf } from '../caller.ts';
import { countList } from '../lists/count.ts';
import { type ListArgs, type ListDefinition, listStatement, Page } from '../lists/list.ts';
import { listDeliveries } from './deliveries-store.ts';
import type { DeliveryRow } from './delivery.ts';
import type { EndpointRow } from './endpoint.ts';
import { getEndpoints, listEndpoints } from './endpoints-store.ts';

const id = { sql: 'w.id', type: 'bigint' } as const;
const createdAt = { sql: 'w.created_at', type: 'timestamptz' } as const;
const updatedAt = { sql: 'w.updated_at', type: 'timestamptz' } as const;

const ENDPOINTS: ListDefinition = {
  from: 'webhook_endpoints w',
  tenantColumn: 'w.tenant_id',
  filters: {
    url: { sql: 'w.url', type: 'text' },
    format: { sql: 'w.format', type: 'text' },
    isEnabled: { sql: 'w.enabled', type: 'boolean' },
    disabledReason: { sql: 'w.disabled_reason', type: 'text' },
    createdAt,
    updatedAt,
  },
  sorts: { id, createdAt, updatedAt },
  id,
  defaultOrder: [{ column: id, descending: false }],
  search: pattern => `(lower(w.url) like ${pattern} or lower(w.description) like ${pattern})`,
};

const deliveryId = { sql: 'd.id', type: 'uuid' } as const;
const deliveredAt = { sql: 'd.created_at', type: 'timestamptz' } as const;

const DELIVERIES: ListDefinition = {
  from: 'webhook_deliveries d',
  tenantColumn: 'd.tenant_id',
  filters: {
    endpointId: { sql: 'd.endpoint_id', type: 'bigint' },
    status: { sql: 'd.status', type: 'text' },
    eventType: { sql: 'd.event_type', type: 'text' },
    createdAt: deliveredAt,
  },
  sorts: { createdAt: deliveredAt },
  id: deliveryId,
  // Ids are ordered in time: newest first.
  defaultOrder: [{ column: deliveryId, descending: true }],
};

export async function endpointPage(context: Context, args: ListArgs): Promise<Page<EndpointRow>> {
  const statement = listStatement(ENDPOINTS, tenantOf(context), args);
  const rows = await listEndpoints(context.db.read, statement);
  return new Page(statement, rows, () => countList(context.db.read, statement));
}

/** One page of the deliveries to an endpoint, newest first. @throws NOT_FOUND */
export async function deliveryPage(context: Context, endpointId: number, args: ListArgs): Promise<Page<DeliveryRow>> {
  const tenantId = tenantOf(context);
  const [endpoint] = await getEndpoints(context.db.read, tenantId, [endpointId]);
  if (!endpoint) throw notFound('WebhookEndpoint');
  const filter = { ...args.filter, endpointId: { eq: endpointId } };
  const statement = listStatement(DELIVERIES, tenantId, { ...args, filter });
  const rows = await listDeliveries(context.db.read, statement);
  return new Page(statement, rows, () => countList(context.db.read, statement));
}
