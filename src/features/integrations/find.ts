import { notFound } from '../../errors.ts';
import type { Db } from '../../platform/database.ts';
import { getDeliveries } from './deliveries-store.ts';
import type { DeliveryRow } from './delivery.ts';
import type { IntegrationRow } from './integration.ts';
import type { MappingRow } from './mapping.ts';
import { getIntegrations, getMappings } from './store.ts';

/** @throws NOT_FOUND */
export async function integrationOf(db: Db, tenantId: number, id: number): Promise<IntegrationRow> {
  const [integration] = await getIntegrations(db, tenantId, [id]);
  if (!integration) throw notFound('Integration');
  return integration;
}

/** @throws NOT_FOUND */
export async function mappingOf(db: Db, tenantId: number, id: number): Promise<MappingRow> {
  const [mapping] = await getMappings(db, tenantId, [id]);
  if (!mapping) throw notFound('IntegrationMapping');
  return mapping;
}

/** A payload that was received, with its bytes, null where they were erased. @throws NOT_FOUND */
export async function deliveryOf(
  db: Db,
  tenantId: number,
  id: string,
): Promise<DeliveryRow & { readonly body: Buffer | null }> {
  const [delivery] = await getDeliveries(db, tenantId, [id], true);
  if (!delivery) throw notFound('IntegrationDelivery');
  return { ...delivery, body: delivery.body ?? null };
}
