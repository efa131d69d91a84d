import type { Filter, ListArgs } from '../../core/list-args.ts';
import { tenantOf } from '../../core/principal.ts';
import { countList, type ListDefinition, listColumns, listStatement, Page, readPage } from '../../database/list.ts';
import type { Context } from '../../schema/context.ts';
import type { IntegrationRow } from './integration.ts';
import { listIntegrations } from './integrations.sql.ts';
import { DELIVERY_COLUMNS, type DeliveryRow } from './orders/delivery.ts';

const column = listColumns('integrations', 'i');
const id = column('id', 'bigint');
const name = column('name', 'text');
const createdAt = column('created_at', 'timestamptz');
const updatedAt = column('updated_at', 'timestamptz');

const INTEGRATIONS: ListDefinition = {
  from: 'integrations i',
  tenantColumn: 'i.tenant_id',
  filters: {
    id: { ...id, node: 'Integration' },
    name,
    kind: column('kind', 'text'),
    isEnabled: column('is_enabled', 'boolean'),
    createdAt,
    updatedAt,
  },
  sorts: { id, name, createdAt, updatedAt },
  id,
  defaultOrder: [{ column: name, descending: false }],
  search: 'search_fold(i.name)',
};

/** One page of integrations, by name by default. */
export async function integrationPage(context: Context, args: ListArgs): Promise<Page<IntegrationRow>> {
  const statement = listStatement(INTEGRATIONS, tenantOf(context), args);
  const rows = await listIntegrations(context.db.read, statement);
  return new Page(statement, rows, () => countList(context.db.read, statement));
}

const deliveryColumn = listColumns('integration_deliveries', 'd');
const deliveryId = deliveryColumn('id', 'uuid');

const DELIVERIES: ListDefinition = {
  from: 'integration_deliveries d',
  tenantColumn: 'd.tenant_id',
  filters: {
    id: { ...deliveryId, node: 'IntegrationDelivery' },
    integrationId: { ...deliveryColumn('integration_id', 'bigint'), node: 'Integration' },
    outcome: deliveryColumn('outcome', 'text'),
    topic: deliveryColumn('topic', 'text'),
    orderId: deliveryColumn('order_id', 'text'),
    receivedAt: { ...deliveryColumn('received_at', 'timestamptz'), timeOrderedId: 'd.id' },
    processedAt: deliveryColumn('processed_at', 'timestamptz'),
  },
  // Ids are made in order of receipt.
  sorts: { id: deliveryId, receivedAt: deliveryId },
  id: deliveryId,
  // Ids are ordered in time.
  defaultOrder: [{ column: deliveryId, descending: true }],
};

const SELECT = DELIVERY_COLUMNS.map(name => `d.${name}` as const);

/**
 * One page of received payloads without their bytes, newest first by default.
 * @param integrationId restricts them to one integration
 */
export function deliveryPage(context: Context, args: ListArgs, integrationId?: number): Promise<Page<DeliveryRow>> {
  const { and = [] } = (args.filter ?? {}) as { readonly and?: readonly Filter[] | null };
  const filter =
    integrationId === undefined
      ? args.filter
      : { ...args.filter, and: [...(and ?? []), { integrationId: { eq: String(integrationId) } }] };
  return readPage<DeliveryRow>(context.db.read, DELIVERIES, tenantOf(context), { ...args, filter }, SELECT);
}
