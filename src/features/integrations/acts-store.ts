import { sql } from 'kysely';
import type { Db } from '../../platform/database.ts';

declare module '../../platform/database.ts' {
  interface Tables {
    integration_acts: { tenant_id: number; mapping_id: number };
  }
}

/** What is done once: a mapping's part for an order in a status. */
export interface ActKey {
  readonly integrationId: number;
  readonly mappingId: number;
  readonly orderId: string;
  /** Empty where the order has none. */
  readonly status: string;
}

export interface ActRow {
  readonly state: 'claimed' | 'done';
  /** Whose act it is. */
  readonly delivery_id: string;
  readonly contact_id: number | null;
  readonly message_id: string | null;
  readonly claimed_at: string;
}

/**
 * Takes an act, also from another payload that has not finished it: that one may be dead, and should it be alive, the
 * idempotency key of the message lets one of them through alone.
 * @returns it, `claimed` for the caller; `isNew` where nobody has ever begun it. One that is done stays as it is.
 */
export async function claimAct(
  db: Db,
  tenantId: number,
  { integrationId, mappingId, orderId, status }: ActKey,
  deliveryId: string,
  nowIso: string,
): Promise<ActRow & { readonly isNew: boolean }> {
  const { rows } = await sql<ActRow & { is_new: boolean }>`
    insert into integration_acts as a (tenant_id, integration_id, mapping_id, order_id, status, state, delivery_id, claimed_at)
    values (${tenantId}, ${integrationId}, ${mappingId}, ${orderId}, ${status}, 'claimed', ${deliveryId}::uuid, ${nowIso}::timestamptz)
    on conflict (tenant_id, integration_id, mapping_id, order_id, status) do update
      set delivery_id = case when a.state = 'done' then a.delivery_id else excluded.delivery_id end
      where a.tenant_id = excluded.tenant_id
    returning a.state, a.delivery_id, a.contact_id, a.message_id, a.claimed_at, a.xmax = 0 as is_new`.execute(db);
  const [row] = rows;
  if (!row) throw new Error('An act was not claimed.');
  const { is_new: isNew, ...act } = row;
  return { ...act, isNew };
}

/** Writes that an act is done, whoever has claimed it meanwhile. */
export async function finishAct(
  db: Db,
  tenantId: number,
  { integrationId, mappingId, orderId, status }: ActKey,
  deliveryId: string,
  done: { readonly contactId: number; readonly messageId: string | null },
  nowIso: string,
): Promise<void> {
  await sql`
    insert into integration_acts as a (tenant_id, integration_id, mapping_id, order_id, status, state, delivery_id, contact_id, message_id, claimed_at)
    values (${tenantId}, ${integrationId}, ${mappingId}, ${orderId}, ${status}, 'done', ${deliveryId}::uuid, ${done.contactId}, ${done.messageId}::uuid,
            ${nowIso}::timestamptz)
    on conflict (tenant_id, integration_id, mapping_id, order_id, status) do update
      set state = 'done', delivery_id = excluded.delivery_id, contact_id = excluded.contact_id, message_id = excluded.message_id
      where a.tenant_id = excluded.tenant_id`.execute(db);
}

/** Gives an act back that was refused, so that a later payload may do it; one that somebody else has claimed or done stays. */
export async function releaseAct(
  db: Db,
  tenantId: number,
  { integrationId, mappingId, orderId, status }: ActKey,
  deliveryId: string,
): Promise<void> {
  await sql`
    delete from integration_acts
    where tenant_id = ${tenantId} and integration_id = ${integrationId} and mapping_id = ${mappingId} and order_id = ${orderId} and status = ${status}
      and state = 'claimed' and delivery_id = ${deliveryId}::uuid`.execute(db);
}

/** Acts that are done already, by mapping. */
export async function doneActs(
  db: Db,
  tenantId: number,
  integrationId: number,
  orderId: string,
  status: string,
): Promise<Map<number, ActRow>> {
  const { rows } = await sql<ActRow & { mapping_id: number }>`
    select mapping_id, state, delivery_id, contact_id, message_id, claimed_at from integration_acts
    where tenant_id = ${tenantId} and integration_id = ${integrationId} and order_id = ${orderId} and status = ${status} and state = 'done'
      and mapping_id = any(array(select id from integration_mappings where tenant_id = ${tenantId} and integration_id = ${integrationId}))`.execute(
    db,
  );
  return new Map(rows.map(row => [row.mapping_id, row]));
}

/** The message that was accepted under an idempotency key of ours. */
export async function messageUnder(
  db: Db,
  tenantId: number,
  key: string,
  operation: string,
): Promise<string | undefined> {
  const { rows } = await sql<{ id: string }>`
    select result->>'id' as id from idempotency_keys
    where tenant_id = ${tenantId} and key = ${key} and operation = ${operation} and result is not null`.execute(db);
  return rows[0]?.id;
}

/** A contact as it is compared with what an order says of the person. */
export interface KnownContact {
  readonly id: number;
  readonly firstname: string;
  readonly lastname: string;
  readonly email: string | null;
}

export async function contactByPhone(db: Db, tenantId: number, phoneKey: string): Promise<KnownContact | undefined> {
  const { rows } = await sql<KnownContact>`
    select id, firstname, lastname, email from contacts where tenant_id = ${tenantId} and phone_key = ${phoneKey}`.execute(
    db,
  );
  return rows[0];
}
