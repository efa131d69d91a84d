import { sql } from 'kysely';
import type { Db } from '../../../database/database.ts';
import { anyIn, anyOf, clockTime, clockTimeIn, crossTenant } from '../../../database/expressions.ts';
import { type Backlog, inAccount } from '../../../lanes/store/backlog.sql.ts';
import type { DeliveryName } from '../intake/signature.ts';
import { DELIVERY_COLUMNS, type DeliveryRow, type Outcome, type Result } from './delivery.ts';
import type { Reason } from './reason.ts';

/** Columns that are text or JSON in the table. */
type Narrow = Pick<DeliveryRow, 'outcome' | 'results' | 'reason'>;

/**
 * Stores a payload unchanged, due at once. The database assigns ids, in order of arrival across processes. @returns whether it is
 * new
 */
export async function insertDelivery(
  db: Db,
  tenantId: number,
  integrationId: number,
  { topic, deliveryId, dedupeKey }: DeliveryName,
  body: Buffer,
): Promise<boolean> {
  const row = await db
    .insertInto('integration_deliveries')
    .values({
      tenant_id: tenantId,
      id: sql`message_id_at(floor(extract(epoch from clock_timestamp()) * 1000)::bigint, nextval('message_arrivals'))`,
      integration_id: integrationId,
      dedupe_key: dedupeKey,
      shop_delivery_id: deliveryId,
      topic,
      body,
      received_at: clockTime,
      due_at: clockTime,
    })
    .onConflict(conflict => conflict.columns(['tenant_id', 'integration_id', 'dedupe_key']).doNothing())
    .returning('id')
    .executeTakeFirst();
  return row !== undefined;
}

export type ClaimedDelivery = DeliveryRow & { readonly body: Buffer | null };

/** Claims the oldest due payload until the claim expires. Every claim counts as an attempt. */
export const claimDelivery = (
  db: Db,
  tenantId: number,
  integrationId: number,
  claim: string,
  claimMs: number,
): Promise<ClaimedDelivery | undefined> =>
  db
    .updateTable('integration_deliveries')
    .set(eb => ({ claim, due_at: clockTimeIn(claimMs), attempts: eb('attempts', '+', 1) }))
    .where('tenant_id', '=', tenantId)
    .where('id', '=', eb =>
      eb
        .selectFrom('integration_deliveries as w')
        .select('w.id')
        .where('w.tenant_id', '=', tenantId)
        .where('w.integration_id', '=', integrationId)
        .where('w.due_at', '<=', clockTime)
        .orderBy('w.id')
        .limit(1)
        .forUpdate()
        .skipLocked(),
    )
    .returning([...DELIVERY_COLUMNS, 'body'])
    .$narrowType<Narrow>()
    .executeTakeFirst();

/** The outcome of processing a payload. */
export interface Settled {
  readonly topic: string;
  readonly orderId: string | null;
  readonly orderStatus: string | null;
  readonly results: readonly Result[];
  readonly reason: Reason | null;
  /** Identifies the person, as far as known, so that erasure finds the payload. */
  readonly people: readonly string[];
}

/** Records the outcome of a payload. @returns false, without writing, if another process has claimed it meanwhile */
export async function settleDelivery(
  trx: Db,
  tenantId: number,
  id: string,
  claim: string,
  outcome: Exclude<Outcome, 'waiting'>,
  settled: Settled,
  nowIso: string,
): Promise<boolean> {
  const { rows } = await sql`
    with settled as (
      update integration_deliveries set outcome = ${outcome}, due_at = null, claim = null, processed_at = ${nowIso}::timestamptz,
        topic = ${settled.topic}, order_id = ${settled.orderId}, order_status = ${settled.orderStatus},
        results = ${JSON.stringify(settled.results)}::jsonb, reason = ${settled.reason && JSON.stringify(settled.reason)}::jsonb
      where tenant_id = ${tenantId} and id = ${id}::uuid and claim = ${claim}::uuid and due_at is not null returning id
    ), indexed as (
      insert into integration_delivery_people (tenant_id, delivery_id, person)
      select ${tenantId}::bigint, id, person from settled, unnest(${settled.people}::text[]) as person on conflict do nothing
    )
    select id from settled`.execute(trx);
  return rows.length > 0;
}

/** Like `settleDelivery`, for a payload that is to be retried. */
export async function postponeDelivery(
  db: Db,
  tenantId: number,
  id: string,
  claim: string,
  settled: Settled,
  pauseMs: number,
): Promise<void> {
  await db
    .updateTable('integration_deliveries')
    .set({
      due_at: clockTimeIn(pauseMs),
      claim: null,
      topic: settled.topic,
      order_id: settled.orderId,
      order_status: settled.orderStatus,
      results: JSON.stringify(settled.results),
      reason: settled.reason && JSON.stringify(settled.reason),
    })
    .where('tenant_id', '=', tenantId)
    .where('id', '=', id)
    .where('claim', '=', claim)
    .where('due_at', 'is not', null)
    .execute();
}

/** Requeues a finished payload. @returns false if it does not exist, is still waiting, or was erased */
export async function replayDelivery(trx: Db, tenantId: number, id: string, isForced: boolean): Promise<boolean> {
  const { numUpdatedRows } = await trx
    .updateTable('integration_deliveries')
    .set(eb => ({ ...WAITING, replays: eb('replays', '+', 1), is_forced: isForced }))
    .where('tenant_id', '=', tenantId)
    .where('id', '=', id)
    .where('due_at', 'is', null)
    .where('erased_at', 'is', null)
    .executeTakeFirstOrThrow();
  return numUpdatedRows > 0n;
}

/** The state of a payload that waits for its first attempt. */
const WAITING = {
  outcome: 'waiting',
  due_at: clockTime,
  processed_at: null,
  attempts: 0,
  claim: null,
  results: '[]',
  reason: null,
} as const;

/**
 * Requeues the oldest payloads since an instant that had one of these outcomes, at most `limit`, except erased ones. Locked in the
 * order of their ids, as by `erasePayloads`.
 */
export async function replaySince(
  trx: Db,
  tenantId: number,
  integrationId: number,
  sinceIso: string,
  outcomes: readonly Outcome[],
  limit: number,
): Promise<{ readonly count: number; readonly last_received_at: string | null }> {
  return trx
    .with('replayed', query =>
      query
        .updateTable('integration_deliveries')
        .set(eb => ({ ...WAITING, replays: eb('replays', '+', 1), is_forced: false }))
        .where('tenant_id', '=', tenantId)
        .where('due_at', 'is', null)
        .where(
          'id',
          '=',
          anyIn(
            query
              .selectFrom('integration_deliveries')
              .select('id')
              .where('tenant_id', '=', tenantId)
              .where('integration_id', '=', integrationId)
              .where(eb => eb('id', '>=', eb.fn<string>('uuid_at', [eb.val(sinceIso)])))
              .where('outcome', '=', anyOf(outcomes))
              .where('due_at', 'is', null)
              .where('erased_at', 'is', null)
              .orderBy('id')
              .limit(limit)
              .forUpdate(),
          ),
        )
        .returning('received_at'),
    )
    .selectFrom('replayed')
    .select(eb => [eb.fn.countAll<number>().as('count'), eb.fn.max('received_at').as('last_received_at')])
    .executeTakeFirstOrThrow();
}

/** Integrations with due payloads, including retries; see `Queue.dueLanes`. */
export const dueIntegrationLanes = sql`
  select i.tenant_id, i.tenant_id || ':' || i.id as key from integrations i
  where exists (
    select from integration_deliveries d
    where d.tenant_id = i.tenant_id and d.integration_id = i.id and d.due_at <= clock_timestamp())`;

/** The backlog of each lane; see `listLanes`. */
export const integrationBacklog: Backlog = tenantId => sql`
  select tenant_id, tenant_id || ':' || integration_id as key, count(*) as count, min(received_at) as oldest_at
  from integration_deliveries where ${inAccount(tenantId)} and due_at is not null group by tenant_id, integration_id`;

/** Records that an order was reported in a status. @returns false if it was reported before */
export async function noteOrder(
  trx: Db,
  tenantId: number,
  integrationId: number,
  orderId: string,
  status: string,
  nowIso: string,
): Promise<boolean> {
  const row = await trx
    .insertInto('integration_orders')
    .values({ tenant_id: tenantId, integration_id: integrationId, order_id: orderId, status, seen_at: nowIso })
    .onConflict(conflict => conflict.doNothing())
    .returning('order_id')
    .executeTakeFirst();
  return row !== undefined;
}

export const getDeliveries = (db: Db, tenantId: number, ids: readonly string[]): Promise<DeliveryRow[]> =>
  db
    .selectFrom('integration_deliveries')
    .select(DELIVERY_COLUMNS)
    .where('tenant_id', '=', tenantId)
    .where('id', '=', anyOf(ids))
    .$narrowType<Narrow>()
    .execute();

/** The bytes of payloads, which may have a megabyte each; null once erased. */
export async function getBodies(
  db: Db,
  tenantId: number,
  ids: readonly string[],
): Promise<ReadonlyMap<string, Buffer | null>> {
  const rows = await db
    .selectFrom('integration_deliveries')
    .select(['id', 'body'])
    .where('tenant_id', '=', tenantId)
    .where('id', '=', anyOf(ids))
    .execute();
  return new Map(rows.map(({ id, body }) => [id, body]));
}

/** The lengths of payloads in bytes, for which the payloads themselves are not read. */
export async function getBodySizes(
  db: Db,
  tenantId: number,
  ids: readonly string[],
): Promise<ReadonlyMap<string, number>> {
  const rows = await db
    .selectFrom('integration_deliveries')
    .select(['id', sql<number>`coalesce(octet_length(body), 0)`.as('size')])
    .where('tenant_id', '=', tenantId)
    .where('id', '=', anyOf(ids))
    .execute();
  return new Map(rows.map(({ id, size }) => [id, size]));
}

/** Deletes finished payloads from before an instant, at most `limit`. @returns how many */
export async function deleteOldDeliveries(db: Db, beforeIso: string, limit: number): Promise<number> {
  const { numDeletedRows } = await db
    .with(
      cte => cte('old').materialized(),
      query =>
        query
          .selectFrom('integration_deliveries')
          .select(['tenant_id', 'id'])
          .where('received_at', '<', beforeIso)
          .where('due_at', 'is', null)
          .orderBy('received_at')
          .limit(limit)
          .forUpdate()
          .skipLocked(),
    )
    .deleteFrom('integration_deliveries as d')
    .using('old')
    .whereRef('d.tenant_id', '=', 'old.tenant_id')
    .whereRef('d.id', '=', 'old.id')
    .modifyEnd(crossTenant('housekeeping, by age alone'))
    .executeTakeFirstOrThrow();
  return Number(numDeletedRows);
}
