import { sql } from 'kysely';
import type { Db } from '../../../database/database.ts';
import { anyIn, clockTime } from '../../../database/expressions.ts';
import { identitySpellings } from '../../../platform/phone.ts';

/** The unit that is done once: a mapping applied to an order in a status. */
export interface ActKey {
  readonly integrationId: number;
  readonly mappingId: number;
  readonly orderId: string;
  /** Empty if the order has no status. */
  readonly status: string;
}

export interface ActRow {
  readonly state: 'claimed' | 'done';
  /** The payload whose processing claimed the act. */
  readonly delivery_id: string;
  readonly contact_id: number | null;
  readonly message_id: string | null;
  /** Since the first claim. */
  readonly age_ms: number;
}

const AGE = sql<number>`extract(epoch from clock_timestamp() - a.claimed_at)::float8 * 1000`;

export interface ClaimedActRow extends ActRow {
  readonly is_new: boolean;
}

/**
 * Claims an act, also from another payload that has not completed it: its process may be dead, and if it is alive, the
 * idempotency key of the message lets only one of them send.
 * @returns the act, `claimed` for the caller; `isNew` if it was never begun. A completed act is left unchanged.
 */
export async function claimAct(
  db: Db,
  tenantId: number,
  { integrationId, mappingId, orderId, status }: ActKey,
  deliveryId: string,
): Promise<ActRow & { readonly isNew: boolean }> {
  const { rows } = await sql<ClaimedActRow>`
    insert into integration_acts as a (tenant_id, integration_id, mapping_id, order_id, status, state, delivery_id, claimed_at)
    values (${tenantId}, ${integrationId}, ${mappingId}, ${orderId}, ${status}, 'claimed', ${deliveryId}::uuid, clock_timestamp())
    on conflict (tenant_id, integration_id, mapping_id, order_id, status) do update
      set delivery_id = case when a.state = 'done' then a.delivery_id else excluded.delivery_id end
      where a.tenant_id = excluded.tenant_id
    returning a.state, a.delivery_id, a.contact_id, a.message_id, ${AGE} as age_ms, a.xmax = 0 as is_new`.execute(db);
  const [row] = rows;
  if (!row) throw new Error('An act was not claimed.');
  const { is_new: isNew, ...act } = row;
  return { ...act, isNew };
}

/** Records that an act is completed, whichever process has claimed it meanwhile. */
export async function finishAct(
  db: Db,
  tenantId: number,
  { integrationId, mappingId, orderId, status }: ActKey,
  deliveryId: string,
  done: { readonly contactId: number; readonly messageId: string | null },
): Promise<void> {
  const values = { state: 'done', delivery_id: deliveryId, contact_id: done.contactId, message_id: done.messageId };
  await db
    .insertInto('integration_acts')
    .values({
      tenant_id: tenantId,
      integration_id: integrationId,
      mapping_id: mappingId,
      order_id: orderId,
      status,
      ...values,
      claimed_at: clockTime,
    })
    .onConflict(conflict =>
      conflict.columns(['tenant_id', 'integration_id', 'mapping_id', 'order_id', 'status']).doUpdateSet(values),
    )
    .execute();
}

/**
 * Releases a refused act, so that a later payload may retry it; an act claimed or completed by another process is left unchanged.
 */
export async function releaseAct(
  db: Db,
  tenantId: number,
  { integrationId, mappingId, orderId, status }: ActKey,
  deliveryId: string,
): Promise<void> {
  await db
    .deleteFrom('integration_acts')
    .where('tenant_id', '=', tenantId)
    .where('integration_id', '=', integrationId)
    .where('mapping_id', '=', mappingId)
    .where('order_id', '=', orderId)
    .where('status', '=', status)
    .where('state', '=', 'claimed')
    .where('delivery_id', '=', deliveryId)
    .execute();
}

/** Completed acts, by mapping. */
export async function doneActs(
  db: Db,
  tenantId: number,
  integrationId: number,
  orderId: string,
  status: string,
): Promise<Map<number, ActRow>> {
  const rows = await db
    .selectFrom('integration_acts as a')
    .select(['mapping_id', 'state', 'delivery_id', 'contact_id', 'message_id', AGE.as('age_ms')])
    .where('tenant_id', '=', tenantId)
    .where('integration_id', '=', integrationId)
    .where('order_id', '=', orderId)
    .where('status', '=', status)
    .where('state', '=', 'done')
    .where(
      'mapping_id',
      '=',
      anyIn(
        db
          .selectFrom('integration_mappings')
          .select('id')
          .where('tenant_id', '=', tenantId)
          .where('integration_id', '=', integrationId),
      ),
    )
    .$narrowType<Pick<ActRow, 'state'>>()
    .execute();
  return new Map(rows.map(row => [row.mapping_id, row]));
}

/** Finds the message accepted under a gateway-generated idempotency key. */
export async function messageUnder(
  db: Db,
  tenantId: number,
  key: string,
  operation: string,
): Promise<string | undefined> {
  const row = await db
    .selectFrom('idempotency_keys')
    .select(sql<string>`result->>'id'`.as('id'))
    .where('tenant_id', '=', tenantId)
    .where('key', '=', key)
    .where('operation', '=', operation)
    .where('result', 'is not', null)
    .executeTakeFirst();
  return row?.id;
}

/** The fields of a contact that are compared with an order's customer. */
export interface KnownContact {
  readonly id: number;
  readonly firstname: string;
  readonly lastname: string;
  readonly email: string | null;
}

/** Finds the contact with a number, as its phone or as another current identity. */
export const contactByPhone = (db: Db, tenantId: number, phoneKey: string): Promise<KnownContact | undefined> =>
  db
    .selectFrom('contacts')
    .select(['id', 'firstname', 'lastname', 'email'])
    .where('tenant_id', '=', tenantId)
    .where('id', '=', eb =>
      eb.fn.coalesce(
        eb
          .selectFrom('contacts as c')
          .select('c.id')
          .where('c.tenant_id', '=', tenantId)
          .where('c.phone_key', '=', phoneKey),
        sql<number>`(select h.contact_id from number_holders(${tenantId}, ${identitySpellings(phoneKey)}::text[]) h limit 1)`,
      ),
    )
    .executeTakeFirst();
