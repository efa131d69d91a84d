import { notFound } from '../../core/errors.ts';
import type { Db } from '../../database/database.ts';
import type { IntegrationRow } from './integration.ts';
import { getIntegrations, getMappings } from './integrations.sql.ts';
import type { MappingRow } from './mappings/mapping.ts';
import { getDeliveries } from './orders/deliveries.sql.ts';
import type { DeliveryRow } from './orders/delivery.ts';

/** @param field of the input that names it, if it is not `id` @throws NOT_FOUND */
export async function requireIntegration(
  db: Db,
  tenantId: number,
  id: number,
  field?: string,
): Promise<IntegrationRow> {
  const [integration] = await getIntegrations(db, tenantId, [id]);
  if (!integration) throw notFound('Integration', field);
  return integration;
}

/** @throws NOT_FOUND */
export async function requireMapping(db: Db, tenantId: number, id: number): Promise<MappingRow> {
  const [mapping] = await getMappings(db, tenantId, [id]);
  if (!mapping) throw notFound('IntegrationMapping');
  return mapping;
}

/** A received payload, without its bytes. @throws NOT_FOUND */
export async function requireDelivery(db: Db, tenantId: number, id: string): Promise<DeliveryRow> {
  const [delivery] = await getDeliveries(db, tenantId, [id]);
  if (!delivery) throw notFound('IntegrationDelivery');
  return delivery;
}
