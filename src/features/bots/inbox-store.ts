import { sql } from 'kysely';
import type { Db } from '../../platform/database.ts';
import { type Stretch, within } from '../events/columns.ts';

declare module '../../platform/database.ts' {
  interface Tables {
    bot_inbox: { tenant_id: number; message_id: string };
  }
}

/** Puts what came in within a stretch of the log before the bots, where a tenant has any and may have them. @returns those tenants */
export async function takeReceived(trx: Db, stretch: Stretch): Promise<number[]> {
  const { rows } = await sql<{ tenant_id: number }>`
    /* cross-tenant: the log is read for all tenants at once; each row keeps its own */
    with taken as (
      insert into bot_inbox (tenant_id, message_id, event_id)
      select e.tenant_id, (e.payload->'message'->>'id')::uuid, e.id from events e
      where ${within(stretch)} and e.type = 'message.received'
        and exists (select from bots b where b.tenant_id = e.tenant_id and b.is_enabled)
        and exists (select from tenants n join plans p on p.id = n.plan_id
                    where n.tenant_id = e.tenant_id and n.status = 'active' and 'bots' = any(p.features))
      order by e.xid, e.seq
      on conflict (tenant_id, message_id) do nothing
      returning tenant_id
    )
    select distinct tenant_id from taken`.execute(trx);
  return rows.map(row => row.tenant_id);
}

/** A message that waits, with what is known of its sender. */
export interface Waiting {
  readonly message_id: string;
  readonly event_id: string;
  /** Null when the contact and with it the message is gone; so is all that follows. */
  readonly contact_id: number | null;
  readonly channel_id: number;
  readonly type: string;
  readonly body: string | null;
  readonly content: Readonly<Record<string, unknown>>;
  readonly wamid: string | null;
  /** The network's time of it. */
  readonly sent_at: string;
  /** Whether the contact has written nothing before it; false where nobody asks. */
  readonly is_first: boolean;
  readonly phone: string | null;
  readonly phone_key: string | null;
  readonly wa_id: string | null;
}

/** The messages that have waited longest. */
export async function listWaiting(
  db: Db,
  tenantId: number,
  limit: number,
  askWhetherFirst: boolean,
): Promise<Waiting[]> {
  const isFirst = askWhetherFirst
    ? sql`not exists (
        select from messages p
        where p.tenant_id = ${tenantId} and p.contact_id = m.contact_id and p.direction = 'inbound'
          and (p.created_at, p.id) < (m.created_at, m.id))`
    : sql`false`;
  const { rows } = await sql<Waiting>`
    select i.message_id, i.event_id, c.id as contact_id, m.channel_id, m.type, m.body, m.content, m.wamid, m.sent_at,
           ${isFirst} as is_first, c.phone, c.phone_key, c.wa_id
    from (select message_id, event_id, place from bot_inbox where tenant_id = ${tenantId} order by place limit ${limit}) i
    left join messages m on m.tenant_id = ${tenantId} and m.id = i.message_id
    left join contacts c on c.tenant_id = ${tenantId} and c.id = m.contact_id
    order by i.place`.execute(db);
  return rows;
}

/**
 * Keeps everybody else from deciding on these contacts until the transaction ends. Those that are being changed at this moment
 * are left out: nothing is waited for, or this and whoever takes in messages could wait in a circle.
 */
export async function lockContacts(
  trx: Db,
  tenantId: number,
  contactIds: readonly number[],
): Promise<Map<number, { readonly isOptedOut: boolean }>> {
  const { rows } = await sql<{ id: number; is_opted_out: boolean }>`
    select id, opted_out_at is not null as is_opted_out from contacts
    where tenant_id = ${tenantId} and id = any(${contactIds}::bigint[]) order by id for no key update skip locked`.execute(
    trx,
  );
  return new Map(rows.map(row => [row.id, { isOptedOut: row.is_opted_out }]));
}

/** Takes messages away for good. @returns those that were there and that nobody else is taking: whoever gets one decides on it */
export async function takeWaiting(db: Db, tenantId: number, messageIds: readonly string[]): Promise<Set<string>> {
  const { rows } = await sql<{ message_id: string }>`
    with free as materialized (
      select message_id from bot_inbox where tenant_id = ${tenantId} and message_id = any(${messageIds}::uuid[]) for update skip locked
    )
    delete from bot_inbox i using free where i.tenant_id = ${tenantId} and i.message_id = free.message_id
    returning i.message_id`.execute(db);
  return new Set(rows.map(row => row.message_id));
}

/** Takes all of a tenant's messages away: nobody is to look at them. */
export async function dropAll(db: Db, tenantId: number): Promise<void> {
  await sql`delete from bot_inbox where tenant_id = ${tenantId}`.execute(db);
}

/**
 * Those of some messages by which their senders came back: the event of that follows the message's own at once.
 * @param messages with the ids of their events and their contacts, index by index
 */
export async function broughtBack(
  db: Db,
  tenantId: number,
  messages: readonly Pick<Waiting, 'message_id' | 'event_id' | 'contact_id'>[],
): Promise<Set<string>> {
  const { rows } = await sql<{ message_id: string }>`
    select w.message_id
    from unnest(${messages.map(one => one.message_id)}::uuid[], ${messages.map(one => one.event_id)}::uuid[],
                ${messages.map(one => one.contact_id)}::bigint[]) as w (message_id, event_id, contact_id)
    join events e on e.tenant_id = ${tenantId} and e.id = w.event_id
    where exists (
      select from events o
      where o.tenant_id = ${tenantId} and o.id > e.id and o.id < uuid_at(e.occurred_at + interval '10 seconds')
        and o.type = 'contact.opted_in' and (o.payload->'contact'->>'id')::bigint = w.contact_id)`.execute(db);
  return new Set(rows.map(row => row.message_id));
}
