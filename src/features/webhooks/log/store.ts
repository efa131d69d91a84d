import { sql } from 'kysely';
import type { Db } from '../../../database/database.ts';
import { anyIn, anyOf, statementTime } from '../../../database/expressions.ts';
import { dropPartitions } from '../../../database/partitions.sql.ts';
import { ATTEMPT_COLUMNS, type AttemptRow, DELIVERY_COLUMNS, type DeliveryRow } from './delivery.ts';

/** Columns that are text in the table. */
type Narrow = Pick<DeliveryRow, 'status'>;

export const getDeliveries = (db: Db, tenantId: number, ids: readonly string[]): Promise<DeliveryRow[]> =>
  db
    .selectFrom('webhook_deliveries')
    .select(DELIVERY_COLUMNS)
    .where('tenant_id', '=', tenantId)
    .where('id', '=', anyOf(ids))
    .$narrowType<Narrow>()
    .execute();

/** The attempts at deliveries, in order. */
export const getAttempts = (db: Db, tenantId: number, deliveryIds: readonly string[]): Promise<AttemptRow[]> =>
  db
    .selectFrom('webhook_attempts')
    .select(['delivery_id', ...ATTEMPT_COLUMNS])
    .where('tenant_id', '=', tenantId)
    .where('delivery_id', '=', anyOf(deliveryIds))
    .orderBy('delivery_id')
    .orderBy('number')
    .execute();

/**
 * The state of a delivery that is due now, at the beginning of the retry schedule. All that a statement queues is due at the same
 * time, so that it is delivered by id, in the order of the log: rows are updated in any order.
 */
const QUEUED = { status: 'pending', tries: 0, next_attempt_at: statementTime, settled_at: null, error: null } as const;

/** Requeues deliveries, whatever their state, but not those about erased contacts: their events are blank. */
export const requeueDeliveries = (db: Db, tenantId: number, ids: readonly string[]): Promise<DeliveryRow[]> =>
  db
    .updateTable('webhook_deliveries')
    .set(QUEUED)
    .where('tenant_id', '=', tenantId)
    .where('id', '=', anyOf(ids))
    .where('erased_at', 'is', null)
    .returning(DELIVERY_COLUMNS)
    .$narrowType<Narrow>()
    .execute();

/**
 * Requeues the oldest deliveries to an endpoint since an instant, of these event types, at most `limit`. Queued deliveries and those
 * about erased contacts are left unchanged. @returns how many
 */
export async function requeueSince(
  db: Db,
  tenantId: number,
  endpointId: number,
  sinceIso: string,
  onlyFailed: boolean,
  types: readonly string[],
  limit: number,
): Promise<number> {
  const { numUpdatedRows } = await db
    .updateTable('webhook_deliveries')
    .set(QUEUED)
    .where('tenant_id', '=', tenantId)
    .where('status', '<>', sql.lit('pending'))
    .where('erased_at', 'is', null)
    .where(
      'id',
      '=',
      anyIn(
        db
          .selectFrom('webhook_deliveries')
          .select('id')
          .where('tenant_id', '=', tenantId)
          .where('endpoint_id', '=', endpointId)
          .where(eb => eb('id', '>=', eb.fn<string>('uuid_at', [eb.val(sinceIso)])))
          .where(eb => eb.not(eb.ref('is_test')))
          .where('status', '=', anyOf(onlyFailed ? ['failed'] : ['failed', 'delivered']))
          .where('event_type', '=', anyOf(types))
          .where('erased_at', 'is', null)
          .orderBy('id')
          .limit(limit),
      ),
    )
    .executeTakeFirstOrThrow();
  return Number(numUpdatedRows);
}

/** Removes the stored responses to deliveries. */
export async function deleteResponses(trx: Db, tenantId: number, deliveryIds: readonly string[]): Promise<void> {
  await trx
    .updateTable('webhook_attempts')
    .set({ response: null })
    .where('tenant_id', '=', tenantId)
    .where('delivery_id', '=', anyOf(deliveryIds))
    .where('response', 'is not', null)
    .execute();
}

/** Whether a month has a queued delivery: one that was replayed late or is still being retried. */
const STILL_WAITS = `select exists (
  select from webhook_deliveries where status = 'pending' and id >= uuid_at($1) and id < uuid_at($2))`;

/**
 * Drops the months of the log before an instant that have no queued delivery. Deliveries are dropped first: attempts are needed
 * as long as their delivery exists.
 */
export async function dropMonths(db: Db, beforeIso: string): Promise<void> {
  for (const table of ['webhook_deliveries', 'webhook_attempts'])
    await dropPartitions(db, table, beforeIso, 'all', STILL_WAITS);
}

/** Inserts the delivery of a test event. It is not queued: its request delivers it. */
export async function insertTestDelivery(
  trx: Db,
  tenantId: number,
  delivery: { readonly id: string; readonly endpointId: number; readonly shard: number; readonly eventId: string },
  nowIso: string,
): Promise<void> {
  await trx
    .insertInto('webhook_deliveries')
    .values({
      tenant_id: tenantId,
      id: delivery.id,
      endpoint_id: delivery.endpointId,
      shard: delivery.shard,
      event_id: delivery.eventId,
      event_type: 'webhook.test',
      is_test: true,
      status: 'failed',
      created_at: nowIso,
      settled_at: nowIso,
    })
    .execute();
}
