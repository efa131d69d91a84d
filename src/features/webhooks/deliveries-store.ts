import { sql } from 'kysely';
import type { Db } from '../../platform/database.ts';
import { dropPartitions } from '../../platform/partitions.ts';
import { raw } from '../../platform/raw-query.ts';
import type { ListStatement } from '../lists/list.ts';
import { ATTEMPT_COLUMNS, type AttemptRow, DELIVERY_COLUMNS, type DeliveryRow } from './delivery.ts';

const COLUMNS = sql.raw(DELIVERY_COLUMNS.join(', '));

export async function listDeliveries(db: Db, statement: ListStatement): Promise<DeliveryRow[]> {
  const select = [...DELIVERY_COLUMNS.map(column => `d.${column}`), ...statement.keys].join(', ');
  const { rows } = await db.executeQuery(raw<DeliveryRow>(`select ${select} ${statement.tail}`, statement.values));
  return rows;
}

export async function getDeliveries(db: Db, tenantId: number, ids: readonly string[]): Promise<DeliveryRow[]> {
  const { rows } = await sql<DeliveryRow>`
    select ${COLUMNS} from webhook_deliveries where tenant_id = ${tenantId} and id = any(${ids}::uuid[])`.execute(db);
  return rows;
}

/** The attempts at some deliveries, in their order. */
export async function getAttempts(db: Db, tenantId: number, deliveryIds: readonly string[]): Promise<AttemptRow[]> {
  const { rows } = await sql<AttemptRow>`
    select delivery_id, ${sql.raw(ATTEMPT_COLUMNS.join(', '))} from webhook_attempts
    where tenant_id = ${tenantId} and delivery_id = any(${deliveryIds}::uuid[]) order by delivery_id, number`.execute(
    db,
  );
  return rows;
}

/** Puts a delivery into the queue again, at the beginning of the table of retries. */
export async function requeueDelivery(
  db: Db,
  tenantId: number,
  id: string,
  nowIso: string,
): Promise<DeliveryRow | undefined> {
  const { rows } = await sql<DeliveryRow>`
    update webhook_deliveries set status = 'pending', tries = 0, next_attempt_at = ${nowIso}::timestamptz, settled_at = null, error = null
    where tenant_id = ${tenantId} and id = ${id}
    returning ${COLUMNS}`.execute(db);
  return rows[0];
}

/** Puts the oldest deliveries of an endpoint since then, at most `limit`, into the queue again; of those that wait, nothing is changed. @returns how many */
export async function requeueSince(
  db: Db,
  tenantId: number,
  endpointId: number,
  sinceIso: string,
  onlyFailed: boolean,
  limit: number,
  nowIso: string,
): Promise<number> {
  const { numAffectedRows } = await sql`
    update webhook_deliveries set status = 'pending', tries = 0, next_attempt_at = ${nowIso}::timestamptz, settled_at = null, error = null
    where tenant_id = ${tenantId} and status <> 'pending' and id = any(array(
      select id from webhook_deliveries
      where tenant_id = ${tenantId} and endpoint_id = ${endpointId} and id >= uuid_at(${sinceIso}::timestamptz) and not is_test
        and status = any(${onlyFailed ? ['failed'] : ['failed', 'delivered']}::text[])
      order by id limit ${limit}))`.execute(db);
  return Number(numAffectedRows ?? 0);
}

/** Whether something of a month still waits: a delivery that was replayed late, or is tried again and again. */
const STILL_WAITS = `select exists (
  select from webhook_deliveries where status = 'pending' and id >= uuid_at($1) and id < uuid_at($2))`;

/**
 * Drops the months of the log that lie before an instant and of which nothing waits any more. Deliveries first: attempts are needed
 * for as long as there are deliveries that they belong to.
 */
export async function dropMonths(db: Db, beforeIso: string): Promise<void> {
  for (const table of ['webhook_deliveries', 'webhook_attempts'])
    await dropPartitions(db, table, beforeIso, 'all', STILL_WAITS);
}

/** Enters the delivery of a sample. Nobody but its maker delivers it, so it does not wait. */
export async function insertTestDelivery(
  trx: Db,
  tenantId: number,
  delivery: { readonly id: string; readonly endpointId: number; readonly shard: number; readonly eventId: string },
  nowIso: string,
): Promise<void> {
  await sql`
    insert into webhook_deliveries (tenant_id, id, endpoint_id, shard, event_id, event_type, is_test, status, created_at, settled_at)
    values (${tenantId}, ${delivery.id}, ${delivery.endpointId}, ${delivery.shard}, ${delivery.eventId}, 'webhook.test', true,
      'failed', ${nowIso}::timestamptz, ${nowIso}::timestamptz)`.execute(trx);
}
