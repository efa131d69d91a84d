import { notFound } from '../../../core/errors.ts';
import type { ListArgs } from '../../../core/list-args.ts';
import { tenantOf } from '../../../core/principal.ts';
import type { ListDefinition, Page } from '../../../database/list.ts';
import { listColumns, readPage } from '../../../database/page.ts';
import type { Context } from '../../../schema/context.ts';
import { DELIVERY_COLUMNS, type DeliveryRow } from '../log/delivery.ts';
import { ENDPOINT_COLUMNS, type EndpointRow } from './endpoint.ts';
import { getEndpoints } from './store.ts';

const column = listColumns('webhook_endpoints', 'w');
const id = column('id', 'bigint');
const createdAt = column('created_at', 'timestamptz');
const updatedAt = column('updated_at', 'timestamptz');

const ENDPOINTS: ListDefinition = {
  from: 'webhook_endpoints w',
  tenantColumn: 'w.tenant_id',
  filters: {
    url: column('url', 'text'),
    format: column('format', 'text'),
    isEnabled: column('enabled', 'boolean'),
    disabledReason: column('disabled_reason', 'text'),
    createdAt,
    updatedAt,
  },
  sorts: { id, createdAt, updatedAt },
  id,
  defaultOrder: [{ column: id, descending: false }],
  search: `search_fold(w.url || ' ' || coalesce(w.description, ''))`,
};

const deliveryColumn = listColumns('webhook_deliveries', 'd');
const deliveryId = deliveryColumn('id', 'uuid');
const deliveredAt = deliveryColumn('created_at', 'timestamptz');

const DELIVERIES: ListDefinition = {
  from: 'webhook_deliveries d',
  tenantColumn: 'd.tenant_id',
  filters: {
    endpointId: deliveryColumn('endpoint_id', 'bigint'),
    status: deliveryColumn('status', 'text'),
    eventType: deliveryColumn('event_type', 'text'),
    createdAt: deliveredAt,
  },
  sorts: { createdAt: deliveredAt },
  id: deliveryId,
  // Ids are ordered in time: newest first.
  defaultOrder: [{ column: deliveryId, descending: true }],
};

const ENDPOINT_SELECT = ENDPOINT_COLUMNS.map(name => `w.${name}` as const);

export const endpointPage = (context: Context, args: ListArgs): Promise<Page<EndpointRow>> =>
  readPage<EndpointRow>(context.db.read, ENDPOINTS, tenantOf(context), args, ENDPOINT_SELECT);

const DELIVERY_SELECT = DELIVERY_COLUMNS.map(name => `d.${name}` as const);

/** One page of the deliveries to an endpoint, newest first. @throws NOT_FOUND */
export async function deliveryPage(context: Context, endpointId: number, args: ListArgs): Promise<Page<DeliveryRow>> {
  const tenantId = tenantOf(context);
  const [endpoint] = await getEndpoints(context.db.read, tenantId, [endpointId]);
  if (!endpoint) throw notFound('WebhookEndpoint');
  const filter = { ...args.filter, endpointId: { eq: endpointId } };
  return readPage<DeliveryRow>(context.db.read, DELIVERIES, tenantId, { ...args, filter }, DELIVERY_SELECT);
}
