import { sql } from 'kysely';
import type { Db } from '../../database/database.ts';
import { anyByKey } from '../../database/expressions.ts';
import { type DeadCode, MAX_EXPIRY_MINUTES, type OtpPlace, type OtpRow, ROW_COLUMNS } from './otp.ts';
import type { MessageOfContact } from './store.ts';

/** Transitions of a code that write several rows in one statement, and what the queue of messages reads of codes. */

const COLUMNS = sql.raw(ROW_COLUMNS.map(column => `o.${column}`).join(', '));

/**
 * Makes a code live after its message was accepted, and replaces the previous live code. Messages arrive in the order of their ids:
 * of two codes sent concurrently, the one with the later message stays live. If the message failed or was cancelled, the code fails;
 * the row of the message's state is locked, so that a concurrent failure or cancellation is serialized with this. The contact is that of
 * the message, which a merge may have changed since the acceptance; it is locked against a concurrent one. Lock order: contacts, states.
 * @param message with the contact as it was accepted, for a message that was deleted since
 * @returns the code: live, already replaced, or failed; undefined if it is no longer `sending`, or waited for a merge: then call it again
 * @throws a unique violation of otps_live_key if another code became live concurrently
 */
export async function makeLive(
  trx: Db,
  tenantId: number,
  { phoneKey, purpose }: OtpPlace,
  id: string,
  message: { readonly id: string; readonly contactId: number },
): Promise<OtpRow | undefined> {
  const { rows } = await sql<OtpRow>`
    with person as materialized (
      select p.id from messages m join contacts p on p.tenant_id = ${tenantId} and p.id = m.contact_id
      where m.tenant_id = ${tenantId} and m.id = ${message.id}::uuid for key share of p
    ), known as materialized (
      select where exists (select from person)
        or not exists (select from messages m where m.tenant_id = ${tenantId} and m.id = ${message.id}::uuid)
    ), message as materialized (
      select s.status from message_states s
      where s.tenant_id = ${tenantId} and s.message_id = ${message.id}::uuid and (select count(*) from person) >= 0 for share
    ), later as materialized (
      select from otps o
      where o.tenant_id = ${tenantId} and o.phone_key = ${phoneKey} and o.purpose = ${purpose} and o.message_id > ${message.id}::uuid limit 1
    ), before as (
      update otps o set state = 'replaced', replaced_by = ${id}::uuid
      where o.tenant_id = ${tenantId} and o.phone_key = ${phoneKey} and o.purpose = ${purpose} and o.state = 'live'
        and o.message_id < ${message.id}::uuid and exists (select from message where status not in ('failed', 'cancelled'))
        and exists (select from otps s where s.tenant_id = ${tenantId} and s.id = ${id}::uuid and s.state = 'sending')
        and exists (select from known)
      returning o.id
    )
    update otps o set state = case when not exists (select from message where status not in ('failed', 'cancelled')) then 'failed'
        when exists (select from later) then 'replaced' else 'live' end,
      message_id = ${message.id}::uuid, contact_id = coalesce((select id from person), ${message.contactId}::bigint)
    where o.tenant_id = ${tenantId} and o.id = ${id}::uuid and o.state = 'sending' and exists (select from known)
      and (select count(*) from before) >= 0
    returning ${COLUMNS}`.execute(trx);
  return rows[0];
}

/** Deletes a code that was not sent, and its idempotency key, so that the request can be repeated. @returns whether it was `sending` */
export async function deleteSending(trx: Db, tenantId: number, id: string): Promise<boolean> {
  const { rows } = await sql`
    with gone as (
      delete from otps o where o.tenant_id = ${tenantId} and o.id = ${id}::uuid and o.state = 'sending' returning o.id, o.idempotency_key
    ), key as (
      delete from idempotency_keys k using gone
      where k.tenant_id = ${tenantId} and k.key = gone.idempotency_key and k.result->>'id' = gone.id::text
    )
    select id from gone`.execute(trx);
  return rows.length > 0;
}

export interface LockedCode {
  readonly id: string;
  /** Whether it is not a code of the given messages, but one that their codes replaced. */
  readonly is_predecessor: boolean;
}

/**
 * Locks the codes of messages that have not ended, and all replaced ones of the same numbers and purposes: a code that fails meanwhile may
 * hand its predecessors on to these. Lock order: by id, because two transactions that each fail the successor of the other's code would
 * otherwise deadlock.
 */
export async function lockCodes(
  trx: Db,
  tenantId: number,
  messages: readonly MessageOfContact[],
): Promise<readonly LockedCode[]> {
  const contactIds = [...new Set(messages.map(({ contactId }) => contactId))];
  const { rows } = await sql<LockedCode>`
    with mine as materialized (
      select o.id, o.phone_key, o.purpose from otps o
      where o.tenant_id = ${tenantId} and o.contact_id = ${anyByKey(contactIds)}
        and o.message_id = any(${messages.map(({ id }) => id)}::uuid[]) and o.state in ('live', 'replaced')
    )
    select o.id, not exists (select from mine m where m.id = o.id) as is_predecessor from otps o
    where o.tenant_id = ${tenantId} and o.id = any(array(
      select id from mine
      union select r.id from mine m join otps r on r.tenant_id = ${tenantId} and r.phone_key = m.phone_key and r.purpose = m.purpose
        and r.state = 'replaced'))
    order by o.id for update of o`.execute(trx);
  return rows;
}

/**
 * Passes the predecessors of a replaced code on to its successor. Call it before the code fails: otherwise they would wait for the failure
 * of a code that has failed already. If the successor has failed, they stay, because no later event changes its state.
 */
export async function handOn(trx: Db, tenantId: number, id: string): Promise<void> {
  await sql`
    update otps o set replaced_by = s.id
    from otps f join otps s on s.tenant_id = ${tenantId} and s.id = f.replaced_by and s.state <> 'failed'
    where f.tenant_id = ${tenantId} and f.id = ${id}::uuid and f.state = 'replaced'
      and o.tenant_id = ${tenantId} and o.replaced_by = f.id and o.state = 'replaced'`.execute(trx);
}

/**
 * Finds messages of one-time passwords whose code verifies nothing any more, or would reach a number that it does not prove: messages go
 * to the contact's number, which may have changed, also by a merge. A code that is about to become live is not tied to its
 * message yet; one without a row is expired once its message is older than every code, because expired codes are deleted after a day.
 * One that was replaced counts only after half a minute: of requests at the same moment, each has its message sent.
 * @returns the state of the code, or `moved`, by message id
 */
export async function readEnded(
  db: Db,
  tenantId: number,
  messageIds: readonly string[],
): Promise<Map<string, DeadCode>> {
  const { rows } = await sql<{ id: string; state: DeadCode }>`
    select m.id, case when o.is_moved then 'moved' when o.state is null or o.state = 'live' then 'expired' else o.state end as state from messages m
    left join lateral (
      select c.state, c.expires_at, exists (select from contacts p
        where p.tenant_id = ${tenantId} and p.id = m.contact_id and p.phone_key is distinct from c.phone_key) as is_moved from otps c
      where c.tenant_id = ${tenantId} and c.contact_id = m.contact_id and c.message_id = m.id offset 0) o on true
    where m.tenant_id = ${tenantId} and m.id = any(${messageIds}::uuid[]) and m.author->>'kind' = 'otp'
      and case when o.state is null then m.created_at < clock_timestamp() - ${sql.lit(MAX_EXPIRY_MINUTES)} * interval '1 minute'
        else o.is_moved or o.expires_at <= clock_timestamp() or o.state not in ('live', 'replaced')
          or (o.state = 'replaced' and m.created_at < clock_timestamp() - interval '30 seconds') end`.execute(db);
  return new Map(rows.map(row => [row.id, row.state]));
}

/** Gives the codes of contacts the contact of their message, after messages were moved between the contacts, which are locked. */
export async function writeContacts(trx: Db, tenantId: number, contactIds: readonly number[]): Promise<void> {
  await sql`
    update otps o set contact_id = m.contact_id from messages m
    where o.tenant_id = ${tenantId} and o.contact_id = ${anyByKey(contactIds)}
      and m.tenant_id = ${tenantId} and m.id = o.message_id and m.contact_id <> o.contact_id`.execute(trx);
}
