import type { Filter, ListArgs } from '../../../core/list-args.ts';
import { tenantOf } from '../../../core/principal.ts';
import { type ListDefinition, listColumns, type Page, readPage } from '../../../database/list.ts';
import type { Context } from '../../../schema/context.ts';
import { DELIVERY_COLUMNS, type DeliveryRow } from '../log/delivery.ts';
import { ENDPOINT_COLUMNS, type EndpointRow } from './endpoint.ts';

const column = listColumns('webhook_endpoints', 'w');
const id = column('id', 'bigint');
const createdAt = column('created_at', 'timestamptz');
const updatedAt = column('updated_at', 'timestamptz');

const ENDPOINTS: ListDefinition = {
  from: 'webhook_endpoints w',
  tenantColumn: 'w.tenant_id',
  filters: {
    id: { ...id, node: 'WebhookEndpoint' },
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

export const DELIVERIES: ListDefinition = {
  from: 'webhook_deliveries d',
  tenantColumn: 'd.tenant_id',
  filters: {
    id: { ...deliveryId, node: 'WebhookDelivery' },
    endpointId: { ...deliveryColumn('endpoint_id', 'bigint'), node: 'WebhookEndpoint' },
    status: deliveryColumn('status', 'text'),
    eventType: deliveryColumn('event_type', 'text'),
    responseStatus: deliveryColumn('response_status', 'integer'),
    isTest: deliveryColumn('is_test', 'boolean'),
    createdAt: { ...deliveryColumn('created_at', 'timestamptz'), timeOrderedId: 'd.id' },
    settledAt: deliveryColumn('settled_at', 'timestamptz'),
  },
  // Ids are made in order of creation, and have an index under every filter.
  sorts: { id: deliveryId, createdAt: deliveryId },
  id: deliveryId,
  // Ids are ordered in time: newest first.
  defaultOrder: [{ column: deliveryId, descending: true }],
};

const ENDPOINT_SELECT = ENDPOINT_COLUMNS.map(name => `w.${name}` as const);

export const endpointPage = (context: Context, args: ListArgs): Promise<Page<EndpointRow>> =>
  readPage<EndpointRow>(context.db.read, ENDPOINTS, tenantOf(context), args, ENDPOINT_SELECT);

const DELIVERY_SELECT = DELIVERY_COLUMNS.map(name => `d.${name}` as const);

/** One page of the deliveries to all endpoints, newest first. @param endpoint restricts them to one */
export function deliveryPage(context: Context, args: ListArgs, endpoint?: EndpointRow): Promise<Page<DeliveryRow>> {
  const { and = [] } = (args.filter ?? {}) as { readonly and?: readonly Filter[] | null };
  const filter = endpoint
    ? { ...args.filter, and: [...(and ?? []), { endpointId: { eq: String(endpoint.id) } }] }
    : args.filter;
  return readPage<DeliveryRow>(context.db.read, DELIVERIES, tenantOf(context), { ...args, filter }, DELIVERY_SELECT);
}
