import { sql } from 'kysely';
import type { Db } from '../../platform/database.ts';
import { ALL_COLUMNS } from './columns.ts';
import type { ContactRow } from './contact.ts';
import type { Sender } from './recognise.ts';

export interface KnownSender {
  readonly id: number;
  readonly network_user_id: string | null;
  readonly wa_id: string | null;
  readonly phone_key: string | null;
}

export async function findSenders(db: Db, tenantId: number, senders: readonly Sender[]): Promise<KnownSender[]> {
  const userIds = senders.flatMap(sender => sender.userId ?? []);
  const waIds = senders.flatMap(sender => sender.waId ?? []);
  const phoneKeys = senders.flatMap(sender => sender.phoneKey ?? []);
  const { rows } = await sql<KnownSender>`
    select id, network_user_id, wa_id, phone_key from contacts where tenant_id = ${tenantId} and network_user_id = any(${userIds}::text[])
    union select id, network_user_id, wa_id, phone_key from contacts where tenant_id = ${tenantId} and wa_id = any(${waIds}::text[])
    union select id, network_user_id, wa_id, phone_key from contacts where tenant_id = ${tenantId} and phone_key = any(${phoneKeys}::text[])
    order by id`.execute(db);
  return rows;
}

export interface Defaults {
  readonly source_id: number | null;
  readonly status_id: number | null;
}

export async function defaultsOf(db: Db, tenantId: number): Promise<Defaults> {
  const { rows } = await sql<Defaults>`
    select default_source_id as source_id, default_status_id as status_id from tenants where tenant_id = ${tenantId}`.execute(
    db,
  );
  return rows[0] ?? { source_id: null, status_id: null };
}

export interface NewSender extends Defaults {
  readonly firstname: string;
  readonly lastname: string;
  readonly phone: string | null;
  readonly phone_key: string | null;
  readonly wa_id: string | null;
  readonly network_user_id: string | null;
}

/** Inserts people who wrote in, beyond the plan's limit where need be; those whom another transaction has just made are left out. */
export async function insertSenders(trx: Db, tenantId: number, senders: readonly NewSender[]): Promise<ContactRow[]> {
  const { rows } = await sql<ContactRow>`
    with room as materialized (
      -- Locked before any contact is, as every creation does: two could wait for each other otherwise.
      select tenant_id from tenant_usage where tenant_id = ${tenantId} for update
    ), c as (
      insert into contacts (tenant_id, firstname, lastname, phone, phone_key, wa_id, network_user_id, source_id, status_id)
      select ${tenantId}::bigint, r.firstname, r.lastname, r.phone, r.phone_key, r.wa_id, r.network_user_id, r.source_id, r.status_id
      from room, jsonb_to_recordset(${JSON.stringify(senders)}::jsonb) as r (firstname text, lastname text, phone text, phone_key text, wa_id text,
        network_user_id text, source_id bigint, status_id bigint)
      order by r.phone_key, r.network_user_id
      on conflict do nothing
      returning *
    ), counted as (
      update tenant_usage u set contacts = u.contacts + n.made, contacts_ceiling = greatest(u.contacts_ceiling, case when u.contacts_ceiling is not null then u.contacts + n.made end)
      from (select count(*) as made from c) n where u.tenant_id = ${tenantId}
    )
    select ${sql.raw(ALL_COLUMNS)} from c order by c.id`.execute(trx);
  return rows;
}

/** What the network showed of a contact. */
export interface Learned {
  readonly id: number;
  readonly userId: string | null;
  readonly waId: string | null;
  readonly phone: string | null;
  readonly phone_key: string | null;
}

/**
 * Keeps what the network showed of people for the next time: also the number of somebody who was known by a user id alone.
 * A user id or number that another contact has already stays there.
 * @returns the contacts who have a number now and had none before
 */
export async function learnIdentities(trx: Db, tenantId: number, learned: readonly Learned[]): Promise<ContactRow[]> {
  const { rows } = await sql<ContactRow & { had_number: boolean }>`
    with l as (
      -- One row of each contact, and each user id and number once: what one statement gives twice would break its key.
      select id, case when row_number() over (partition by user_id order by id) = 1 then user_id end as user_id, wa_id,
             case when row_number() over (partition by phone_key order by id) = 1 then phone end as phone,
             case when row_number() over (partition by phone_key order by id) = 1 then phone_key end as phone_key
      from (
        select distinct on (id) id, user_id, wa_id, phone, phone_key
        from jsonb_to_recordset(${JSON.stringify(learned.map(({ userId, waId, ...rest }) => ({ ...rest, user_id: userId, wa_id: waId })))}::jsonb)
          as l (id bigint, user_id text, wa_id text, phone text, phone_key text)
        order by id, (phone_key is null), (user_id is null)
      ) one
    ), before as (
      select c.id, c.phone_key is not null as had_number,
             exists (select from contacts o where o.tenant_id = ${tenantId} and o.network_user_id = l.user_id and o.id <> c.id) as user_taken,
             exists (select from contacts o where o.tenant_id = ${tenantId} and o.phone_key = l.phone_key and o.id <> c.id) as number_taken
      from l join contacts c on c.tenant_id = ${tenantId} and c.id = l.id
    ), after as (
      update contacts c set
        wa_id = coalesce(l.wa_id, c.wa_id),
        network_user_id = coalesce(c.network_user_id, case when not b.user_taken then l.user_id end),
        phone = case when c.phone_key is null and not b.number_taken then l.phone else c.phone end,
        phone_key = case when c.phone_key is null and not b.number_taken then l.phone_key else c.phone_key end
      from l join before b on b.id = l.id
      where c.tenant_id = ${tenantId} and c.id = l.id
      returning c.*, b.had_number
    )
    select ${sql.raw(ALL_COLUMNS)} from after c where not c.had_number and c.phone_key is not null`.execute(trx);
  return rows;
}
