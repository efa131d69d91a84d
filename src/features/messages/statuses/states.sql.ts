import { sql } from 'kysely';
import type { Db } from '../../../database/database.ts';
import { countryOfPerson } from '../../../platform/phone-country.ts';
import type { MessageRef } from '../dispatch/outbox.sql.ts';
import type { MessageRow } from '../message.ts';
import type { RecipientIdentities } from './new-identity.ts';

/** A message by the network's id. Two channels of an account may have the same id. */
export interface KnownWamid {
  readonly channel_id: number;
  readonly wamid: string;
  readonly message_id: string;
}

/** Messages by the network's ids, on any channel of the tenant. */
export async function findIdsByWamid(db: Db, tenantId: number, wamids: readonly string[]): Promise<KnownWamid[]> {
  const { rows } = await sql<KnownWamid>`
    select w.channel_id, w.wamid, w.message_id from channels ch
    join message_wamids w on w.tenant_id = ${tenantId} and w.channel_id = ch.id and w.wamid = any(${wamids}::text[])
    where ch.tenant_id = ${tenantId}`.execute(db);
  return rows;
}

export interface LockedMessage {
  readonly tenantId: number;
  readonly row: MessageRow;
  /** Set by `lockWithRecipients`; null if the contact was deleted. */
  readonly recipient?: RecipientIdentities | null;
  /** The recipient's business-scoped user id, if a status shows it. */
  readonly userId?: string | undefined;
}

/**
 * What to do about messages that another transaction has locked. `contacts_first` waits as `wait` does, but locks the contacts of
 * reactions before the messages: storing a reaction locks its contact, and a merge locks contacts before messages.
 */
type Locking = 'wait' | 'skip' | 'contacts_first';

/** The function of the database that locks the messages in this way. */
function lock(messages: readonly MessageRef[], locked: Locking) {
  const tenantIds = messages.map(({ tenantId }) => tenantId);
  const ids = messages.map(({ messageId }) => messageId);
  return locked === 'contacts_first'
    ? sql`lock_outbound_after_contacts(${tenantIds}::bigint[], ${ids}::uuid[])`
    : sql`lock_outbound(${tenantIds}::bigint[], ${ids}::uuid[], ${locked === 'wait'})`;
}

/** Locks the states of outbound messages. Lock order: by tenant and id, to avoid deadlocks. */
export async function lockOutbound(
  trx: Db,
  messages: readonly MessageRef[],
  locked: Locking = 'wait',
): Promise<LockedMessage[]> {
  const { rows } = await sql<MessageRow & { readonly tenant_id: number }>`
    /* cross-tenant: a process drains lanes of all tenants, each message named with its own */
    select l.* from ${lock(messages, locked)} l`.execute(trx);
  return rows.map(({ tenant_id: tenantId, ...row }) => ({ tenantId, row }));
}

/** Like `lockOutbound`, with the identities of the recipients. One statement, because every status takes this path. */
export async function lockWithRecipients(
  trx: Db,
  messages: readonly MessageRef[],
  locked: Locking = 'wait',
): Promise<LockedMessage[]> {
  const { rows } = await sql<
    MessageRow & { readonly tenant_id: number; readonly recipient: Omit<RecipientIdentities, 'phone'> | null }
  >`
    /* cross-tenant: a process drains lanes of all tenants, each message named with its own */
    select l.*, (
      select json_build_object('portfolio', coalesce(ch.portfolio_id, 'waba:' || ch.waba_id),
        'identities', (select json_agg(json_build_array(i.kind, i.portfolio, i.value, i.wa_id)) from contact_identities i
          where i.tenant_id = l.tenant_id and i.contact_id = l.contact_id and i.kind in ('wa_id', 'user_id') and i.ended_at is null))
      from channels ch where ch.tenant_id = l.tenant_id and ch.id = l.channel_id and l.contact is not null) as recipient
    from ${lock(messages, locked)} l`.execute(trx);
  return rows.map(({ tenant_id: tenantId, recipient, ...row }) => ({
    tenantId,
    row,
    recipient: recipient && { ...recipient, phone: row.contact?.phone ?? null },
  }));
}

/** Writes states that were locked by `lockOutbound`. */
export async function writeStates(trx: Db, messages: readonly LockedMessage[]): Promise<void> {
  const pick = <K extends keyof MessageRow>(name: K) => messages.map(({ row }) => row[name]);
  const tenantIds = messages.map(({ tenantId }) => tenantId);
  const errors = messages.map(({ row }) => row.error && JSON.stringify(row.error));
  const countries = messages.map(({ row, userId }) => countryOfPerson(row.contact?.phone, userId));
  await sql`
    select write_message_states(${tenantIds}::bigint[], ${pick('id')}::uuid[], ${pick('status')}::text[], ${pick('wamid')}::text[],
      ${errors}::jsonb[], ${pick('sent_at')}::timestamptz[], ${pick('delivered_at')}::timestamptz[], ${pick('read_at')}::timestamptz[],
      ${pick('failed_at')}::timestamptz[], ${pick('updated_at')}::timestamptz[], ${countries}::text[])`.execute(trx);
}
