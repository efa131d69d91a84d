import { sql } from 'kysely';
import type { Db } from '../../platform/database.ts';
import { raw } from '../../platform/raw-query.ts';
import type { ListStatement } from '../lists/list.ts';
import { DELIVERY_COLUMNS, type DeliveryRow, type Outcome, type Result } from './delivery.ts';
import type { Reason } from './reason.ts';
import type { Named } from './signature.ts';

declare module '../../platform/database.ts' {
  interface Tables {
    integration_deliveries: DeliveryRow & { tenant_id: number };
    integration_orders: { tenant_id: number; integration_id: number };
  }
}

const COLUMNS = DELIVERY_COLUMNS.map(column => `d.${column}`).join(', ');
const columns = sql.raw(COLUMNS);

/** Stores a payload as it came, due at once. @returns whether it is new */
export async function insertDelivery(
  db: Db,
  tenantId: number,
  integrationId: number,
  id: string,
  { topic, deliveryId, dedupeKey }: Named,
  body: Uint8Array,
  nowIso: string,
): Promise<boolean> {
  const { rows } = await sql`
    insert into integration_deliveries (tenant_id, id, integration_id, dedupe_key, shop_delivery_id, topic, body, received_at, due_at)
    values (${tenantId}, ${id}, ${integrationId}, ${dedupeKey}, ${deliveryId}, ${topic}, ${body}, ${nowIso}::timestamptz, ${nowIso}::timestamptz)
    on conflict (tenant_id, integration_id, dedupe_key) do nothing
    returning id`.execute(db);
  return rows.length > 0;
}

export type ClaimedDelivery = DeliveryRow & { readonly body: Buffer | null };

/** Takes the oldest payload that is due: until the claim runs out nobody else does. Every taking counts as an attempt. */
export async function claimDelivery(
  db: Db,
  tenantId: number,
  integrationId: number,
  claim: string,
  nowIso: string,
  untilIso: string,
): Promise<ClaimedDelivery | undefined> {
  const { rows } = await sql<ClaimedDelivery>`
    update integration_deliveries d set claim = ${claim}::uuid, due_at = ${untilIso}::timestamptz, attempts = d.attempts + 1
    where d.tenant_id = ${tenantId} and d.id = (
      select w.id from integration_deliveries w
      where w.tenant_id = ${tenantId} and w.integration_id = ${integrationId} and w.due_at <= ${nowIso}::timestamptz
      order by w.id limit 1 for update skip locked)
    returning ${columns}, d.body`.execute(db);
  return rows[0];
}

/** What is written of a payload when somebody has worked on it. */
export interface Settled {
  readonly topic: string;
  readonly orderId: string | null;
  readonly orderStatus: string | null;
  readonly results: readonly Result[];
  readonly reason: Reason | null;
  /** Whom it is found by, as far as that is known now. */
  readonly people: readonly string[];
}

/** Writes what became of a payload. @returns false when somebody else has taken it meanwhile: then nothing is written */
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
      update integration_deliveries set outcome = ${outcome}, due_at = null, claim = null, processed_at = ${nowIso}::timestamptz, ${written(settled)}
      where tenant_id = ${tenantId} and id = ${id}::uuid and claim = ${claim}::uuid and due_at is not null returning id
    ), told as (
      insert into integration_delivery_people (tenant_id, delivery_id, person)
      select ${tenantId}::bigint, id, person from settled, unnest(${settled.people}::text[]) as person on conflict do nothing
    )
    select id from settled`.execute(trx);
  return rows.length > 0;
}

/** As `settleDelivery`, for one that is to be tried again. */
export async function postponeDelivery(
  db: Db,
  tenantId: number,
  id: string,
  claim: string,
  settled: Settled,
  dueIso: string,
): Promise<void> {
  await sql`
    update integration_deliveries set due_at = ${dueIso}::timestamptz, claim = null, ${written(settled)}
    where tenant_id = ${tenantId} and id = ${id}::uuid and claim = ${claim}::uuid and due_at is not null`.execute(db);
}

const written = ({ topic, orderId, orderStatus, results, reason }: Settled) => sql`
  topic = ${topic}, order_id = ${orderId}, order_status = ${orderStatus}, results = ${JSON.stringify(results)}::jsonb,
  reason = ${reason && JSON.stringify(reason)}::jsonb`;

/** Makes a payload that is done with wait again. @returns false when it is not there, still waits, or was erased */
export async function replayDelivery(
  trx: Db,
  tenantId: number,
  id: string,
  isForced: boolean,
  nowIso: string,
): Promise<boolean> {
  const { rows } = await sql`
    update integration_deliveries set ${waitingAgain(nowIso, isForced)}
    where tenant_id = ${tenantId} and id = ${id}::uuid and due_at is null and erased_at is null returning id`.execute(
    trx,
  );
  return rows.length > 0;
}

const waitingAgain = (nowIso: string, isForced: boolean) => sql`
  outcome = 'waiting', due_at = ${nowIso}::timestamptz, processed_at = null, attempts = 0, claim = null,
  results = '[]', reason = null, replays = replays + 1, is_forced = ${isForced}`;

/** Makes the oldest payloads that came since then and came to one of these outcomes wait again, at most `limit`; those that were erased stay as they are. */
export async function replaySince(
  trx: Db,
  tenantId: number,
  integrationId: number,
  sinceIso: string,
  outcomes: readonly Outcome[],
  limit: number,
  nowIso: string,
): Promise<{ readonly count: number; readonly last_received_at: string | null }> {
  const { rows } = await sql<{ count: number; last_received_at: string | null }>`
    with replayed as (
      update integration_deliveries set ${waitingAgain(nowIso, false)}
      where tenant_id = ${tenantId} and due_at is null and id = any(array(
        select id from integration_deliveries
        where tenant_id = ${tenantId} and integration_id = ${integrationId} and id >= uuid_at(${sinceIso}::timestamptz)
          and outcome = any(${outcomes}::text[]) and due_at is null and erased_at is null
        order by id limit ${limit} for update))
      returning received_at
    )
    select count(*) as count, max(received_at) as last_received_at from replayed`.execute(trx);
  return rows[0] ?? { count: 0, last_received_at: null };
}

/** Integrations with payloads that are due: the sweep that finds lost wake-ups, and those that are to be tried again. */
export async function dueIntegrations(
  db: Db,
  nowIso: string,
): Promise<{ readonly tenant_id: number; readonly integration_id: number }[]> {
  const { rows } = await sql<{ tenant_id: number; integration_id: number }>`
    /* cross-tenant: the sweep wakes lanes, it reads no payload */
    select distinct tenant_id, integration_id from integration_deliveries where due_at <= ${nowIso}::timestamptz`.execute(
    db,
  );
  return rows;
}

/** Notes that an order was told in a status. @returns false when it has been before */
export async function noteOrder(
  trx: Db,
  tenantId: number,
  integrationId: number,
  orderId: string,
  status: string,
  nowIso: string,
): Promise<boolean> {
  const { rows } = await sql`
    insert into integration_orders (tenant_id, integration_id, order_id, status, seen_at)
    values (${tenantId}, ${integrationId}, ${orderId}, ${status}, ${nowIso}::timestamptz)
    on conflict do nothing returning order_id`.execute(trx);
  return rows.length > 0;
}

export async function getDeliveries(
  db: Db,
  tenantId: number,
  ids: readonly string[],
  withBody = false,
): Promise<DeliveryRow[]> {
  const { rows } = await sql<DeliveryRow>`
    select ${columns}${withBody ? sql`, d.body` : sql``} from integration_deliveries d
    where d.tenant_id = ${tenantId} and d.id = any(${ids}::uuid[])`.execute(db);
  return rows;
}

export async function listDeliveries(db: Db, statement: ListStatement, withBody: boolean): Promise<DeliveryRow[]> {
  const select = [COLUMNS, ...(withBody ? ['d.body'] : []), ...statement.keys].join(', ');
  const { rows } = await db.executeQuery(raw<DeliveryRow>(`select ${select} ${statement.tail}`, statement.values));
  return rows;
}

/** Removes what came before an instant and is done with, at most `limit`. @returns how many */
export async function deleteOldDeliveries(db: Db, before: string, limit: number): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    /* cross-tenant: what is too old is so for every tenant */
    with old as (
      select tenant_id, id from integration_deliveries where received_at < ${before} and due_at is null
      order by received_at limit ${limit} for update skip locked
    ), removed as (
      delete from integration_deliveries d using old o where d.tenant_id = o.tenant_id and d.id = o.id returning 1
    )
    select count(*)::int as count from removed`.execute(db);
  return rows[0]?.count ?? 0;
}
