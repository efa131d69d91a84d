import { sql } from 'kysely';
import type { Db } from '../../../database/database.ts';
import { anyOf, anyTenantHas } from '../../../database/expressions.ts';
import type { Cursor } from '../../../events/cursor.ts';
import { isAfterPosition, isInRange, type LogRange } from '../../../events/log.sql.ts';
import { presentIdentity } from '../../contacts/columns.ts';

/** Whether any tenant has a bot. */
export const hasBots = (trx: Db): Promise<boolean> => anyTenantHas(trx.selectFrom('bots').select('id'));

/** Whether a received message (`e`) left its conversation to a bot. */
const leavesToBot = sql<boolean>`e.payload->'conversation'->>'status' = 'pending'`;

/** Events examined at once: as many as a range of a reader has. */
const EXAMINED = 5_000;

/**
 * Whether messages after a position of the log may have left their conversation to a bot, though no tenant has one any more: they were
 * received before the last one was deleted. True also if there are too many events to tell.
 */
export async function areAnyLeftToBots(trx: Db, after: Cursor): Promise<boolean> {
  const { rows } = await sql<{ any: boolean }>`
    /* cross-tenant: the log is read for all tenants at once */
    select count(*) = ${sql.lit(EXAMINED)}
      or coalesce(bool_or(case when e.type = 'message.received' then ${leavesToBot} end), false) as any
    from (select e.type, e.payload from events e where ${isAfterPosition(after)} order by e.xid, e.seq limit ${sql.lit(EXAMINED)}) e`.execute(
    trx,
  );
  return rows[0]?.any ?? false;
}

/**
 * Queues the messages received in a range of the log for the bots, if the tenant has any and the plan includes them. A message that left
 * its conversation to a bot is queued also if that has ended since: it is decided that no bot answers it, and the conversation opens.
 * @returns those tenants
 */
export async function queueReceived(trx: Db, range: LogRange): Promise<number[]> {
  const { rows } = await sql<{ tenant_id: number }>`
    /* cross-tenant: the log is read for all tenants at once; each row keeps its own */
    with taken as (
      insert into bot_inbox (tenant_id, message_id, event_id)
      select e.tenant_id, (e.payload->'message'->>'id')::uuid, e.id from events e
      where ${isInRange(range)} and e.type = 'message.received' and e.payload->>'is_answerable' is distinct from 'false'
        and (
          exists (select from bots b where b.tenant_id = e.tenant_id and b.is_enabled)
            and exists (select from tenants n join plans p on p.id = n.plan_id
                        where n.tenant_id = e.tenant_id and n.status = 'active' and 'bots' = any(p.features))
          -- The tenant may have been deleted: a transaction that outlived that leaves events. Not as a join, which would be read from the
          -- tenants: a look-up for each of them and partition.
          or ${leavesToBot} and exists (select from tenants n where n.tenant_id = e.tenant_id))
      order by e.xid, e.seq
      on conflict (tenant_id, message_id) do nothing
      returning tenant_id
    )
    select distinct tenant_id from taken`.execute(trx);
  return rows.map(row => row.tenant_id);
}

/** A queued message with the sender's data. */
export interface QueuedMessage {
  readonly message_id: string;
  readonly event_id: string;
  /** Null if the contact, and with it the message, was deleted; so are the following fields. */
  readonly contact_id: number | null;
  readonly channel_id: number;
  readonly type: string;
  readonly body: string | null;
  readonly content: Readonly<Record<string, unknown>>;
  readonly wamid: string | null;
  /** Age by the network's timestamp and the database's clock. */
  readonly age_ms: number;
  /** Whether it is the contact's first message; false if not queried. */
  readonly is_first: boolean;
  readonly phone: string | null;
  readonly phone_key: string | null;
  readonly wa_id: string | null;
}

/** Returns the messages that have waited longest. */
export async function listQueued(
  db: Db,
  tenantId: number,
  limit: number,
  askWhetherFirst: boolean,
): Promise<QueuedMessage[]> {
  const isFirst = askWhetherFirst
    ? sql`not exists (
        select from messages p
        where p.tenant_id = ${tenantId} and p.contact_id = m.contact_id and p.direction = 'inbound'
          and (p.created_at, p.id) < (m.created_at, m.id))`
    : sql`false`;
  const { rows } = await sql<QueuedMessage>`
    select i.message_id, i.event_id, c.id as contact_id, m.channel_id, m.type, m.body, m.content, s.wamid,
           extract(epoch from clock_timestamp() - s.sent_at)::float8 * 1000 as age_ms,
           ${isFirst} as is_first, c.phone, c.phone_key, ${presentIdentity(tenantId, 'wa_id')} as wa_id
    from (select message_id, event_id, place from bot_inbox where tenant_id = ${tenantId} order by place limit ${limit}) i
    left join messages m on m.tenant_id = ${tenantId} and m.id = i.message_id
    left join message_states s on s.tenant_id = ${tenantId} and s.message_id = m.id
    left join contacts c on c.tenant_id = ${tenantId} and c.id = m.contact_id
    order by i.place`.execute(db);
  return rows;
}

/**
 * Locks contacts against concurrent decisions until the transaction ends. Skips contacts locked by others instead of waiting, to
 * avoid a deadlock with the intake of messages.
 */
export async function lockContacts(
  trx: Db,
  tenantId: number,
  contactIds: readonly number[],
): Promise<Map<number, { readonly isOptedOut: boolean }>> {
  const rows = await trx
    .selectFrom('contacts')
    .select(['id', 'opted_out_at'])
    .where('tenant_id', '=', tenantId)
    .where('id', '=', anyOf(contactIds))
    .orderBy('id')
    .forNoKeyUpdate()
    .skipLocked()
    .execute();
  return new Map(rows.map(row => [row.id, { isOptedOut: row.opted_out_at !== null }]));
}

/** Removes messages from the queue. @returns those that existed and were not locked: only the caller decides on them */
export async function removeQueued(db: Db, tenantId: number, messageIds: readonly string[]): Promise<Set<string>> {
  const rows = await db
    .with(
      cte => cte('free').materialized(),
      query =>
        query
          .selectFrom('bot_inbox')
          .select('message_id')
          .where('tenant_id', '=', tenantId)
          .where('message_id', '=', anyOf(messageIds))
          .forUpdate()
          .skipLocked(),
    )
    .deleteFrom('bot_inbox as i')
    .using('free')
    .where('i.tenant_id', '=', tenantId)
    .whereRef('i.message_id', '=', 'free.message_id')
    .returning('i.message_id')
    .execute();
  return new Set(rows.map(row => row.message_id));
}

/** Removes all of a tenant's queued messages undecided. @returns the conversations of those that still exist */
export async function clearQueue(
  trx: Db,
  tenantId: number,
): Promise<{ readonly contactId: number; readonly channelId: number }[]> {
  const { rows } = await sql<{ contact_id: number; channel_id: number }>`
    with gone as (delete from bot_inbox where tenant_id = ${tenantId} returning message_id)
    select distinct m.contact_id, m.channel_id from gone join messages m on m.tenant_id = ${tenantId} and m.id = gone.message_id`.execute(
    trx,
  );
  return rows.map(row => ({ contactId: row.contact_id, channelId: row.channel_id }));
}

/**
 * Returns the messages by which their senders opted in again: the event of the opt-in directly follows the message's.
 * @param messages ids of their events and their contacts, index by index
 */
export async function findOptIns(
  db: Db,
  tenantId: number,
  messages: readonly Pick<QueuedMessage, 'message_id' | 'event_id' | 'contact_id'>[],
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
