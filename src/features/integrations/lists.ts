import type { Context } from '../../context.ts';
import { merged, type Selection, selectionAt } from '../../graphql/selection.ts';
import { tenantOf } from '../caller.ts';
import { countList } from '../lists/count.ts';
import { type ListArgs, type ListDefinition, listStatement, Page } from '../lists/list.ts';
import { listDeliveries } from './deliveries-store.ts';
import type { DeliveryRow } from './delivery.ts';
import type { IntegrationRow } from './integration.ts';
import { listIntegrations } from './store.ts';

const id = { sql: 'i.id', type: 'bigint' } as const;
const name = { sql: 'i.name', type: 'text' } as const;
const createdAt = { sql: 'i.created_at', type: 'timestamptz' } as const;

const INTEGRATIONS: ListDefinition = {
  from: 'integrations i',
  tenantColumn: 'i.tenant_id',
  filters: { name, kind: { sql: 'i.kind', type: 'text' }, createdAt },
  sorts: { id, name, createdAt },
  id,
  defaultOrder: [{ column: name, descending: false }],
  search: pattern => `lower(i.name) like ${pattern}`,
};

/** One page of integrations, by name where nothing else is asked. */
export async function integrationPage(context: Context, args: ListArgs): Promise<Page<IntegrationRow>> {
  const statement = listStatement(INTEGRATIONS, tenantOf(context), args);
  const rows = await listIntegrations(context.db.read, statement);
  return new Page(statement, rows, () => countList(context.db.read, statement));
}

const deliveryId = { sql: 'd.id', type: 'uuid' } as const;
const receivedAt = { sql: 'd.received_at', type: 'timestamptz' } as const;

const DELIVERIES: ListDefinition = {
  from: 'integration_deliveries d',
  tenantColumn: 'd.tenant_id',
  filters: {
    integrationId: { sql: 'd.integration_id', type: 'bigint', node: 'Integration' },
    outcome: { sql: 'd.outcome', type: 'text' },
    topic: { sql: 'd.topic', type: 'text' },
    orderId: { sql: 'd.order_id', type: 'text' },
    receivedAt,
  },
  sorts: { id: deliveryId, receivedAt },
  id: deliveryId,
  // Ids are ordered in time.
  defaultOrder: [{ column: deliveryId, descending: true }],
};

/** One page of what was received, newest first where nothing else is asked; the bytes only where they are selected. */
export async function deliveryPage(context: Context, args: ListArgs, selection: Selection): Promise<Page<DeliveryRow>> {
  const statement = listStatement(DELIVERIES, tenantOf(context), args);
  const nodes = merged(selectionAt(selection, 'edges', 'node'), selectionAt(selection, 'nodes'));
  const rows = await listDeliveries(context.db.read, statement, nodes.has('payload') || nodes.has('rawBody'));
  return new Page(statement, rows, () => countList(context.db.read, statement));
}
