import { sql } from 'kysely';
import type { Db } from '../../../database/database.ts';
import type { MessageRow } from '../message.ts';
import { messageColumns } from '../messages.sql.ts';
import type { MessageDetails } from './details.ts';

/** An inbound message to be inserted. */
export interface NewInbound {
  readonly wamid: string;
  /** Null for a message in a group chat. */
  readonly conversation_id: number | null;
  readonly group_chat_id: number | null;
  readonly contact_id: number;
  readonly channel_id: number;
  readonly type: string;
  readonly body: string | null;
  readonly content: Readonly<Record<string, unknown>>;
  readonly error: MessageRow['error'];
  readonly reply_to_wamid: string | null;
  /** Of the sender's number; ISO 3166-1 alpha-2. */
  readonly country: string | null;
  /** ISO 8601; not in the future. */
  readonly sent_at: string;
  readonly created_at: string;
  /** The network's timestamp in milliseconds; whole seconds. */
  readonly network_ms: number;
  /** When its webhook arrived, by the database's clock. */
  readonly arrived_ms: number;
}

/**
 * Inserts inbound messages in the given order. Repeated deliveries are skipped, because their network ids conflict.
 *
 * The id of a message determines its position in the conversation: the end of the network's second, or the arrival if that was
 * earlier, then the order of arrival. So messages of one second keep their order, a time in the future counts as the time of
 * arrival, and outbound messages, whose ids are generated at acceptance, are ordered by their acceptance.
 *
 * @returns the new messages, in the order of their ids
 */
export async function insertInbound(trx: Db, tenantId: number, messages: readonly NewInbound[]): Promise<MessageRow[]> {
  const { rows } = await sql<MessageRow>`
    with r as materialized (
      select o.*, message_id_at(least(o.arrived_ms, o.network_ms + 999), nextval('message_arrivals')) as id
      from (
        select * from rows from (jsonb_to_recordset(${JSON.stringify(messages)}::jsonb) as (wamid text, conversation_id bigint, group_chat_id bigint,
          contact_id bigint, channel_id bigint, type text, body text, content jsonb, error jsonb, reply_to_wamid text, country text, sent_at timestamptz,
          created_at timestamptz, network_ms bigint, arrived_ms bigint)) with ordinality
          as x (wamid, conversation_id, group_chat_id, contact_id, channel_id, type, body, content, error, reply_to_wamid, country, sent_at, created_at,
            network_ms, arrived_ms, place)
        order by x.place
      ) o
    ), w as (
      insert into message_wamids (tenant_id, channel_id, wamid, message_id)
      select ${tenantId}::bigint, r.channel_id, r.wamid, r.id from r order by r.channel_id, r.wamid, r.place
      on conflict (tenant_id, channel_id, wamid) do nothing
      returning message_id
    ), m as (
      insert into messages as m (tenant_id, id, conversation_id, group_chat_id, contact_id, channel_id, direction, type, body, content, reply_to_wamid, created_at)
      select ${tenantId}::bigint, r.id, r.conversation_id, r.group_chat_id, r.contact_id, r.channel_id, 'inbound', r.type, r.body, r.content, r.reply_to_wamid, r.created_at
      from r join w on w.message_id = r.id order by r.id
      returning m.*
    ), s as (
      insert into message_states as s (tenant_id, message_id, status, error, wamid, sent_at, updated_at, country)
      select ${tenantId}::bigint, r.id, 'received', r.error, r.wamid, r.sent_at, r.created_at, r.country from r join w on w.message_id = r.id order by r.id
      returning s.*
    ), u as (
      insert into message_updates (tenant_id, message_id, updated_at, status)
      select ${tenantId}::bigint, s.message_id, s.updated_at, s.status from s
    ), t as (
      insert into message_statistics_pending (tenant_id, hour, channel_id, status, country, messages)
      select ${tenantId}::bigint, date_trunc('hour', m.created_at, 'UTC'), m.channel_id, 'received', coalesce(s.country, ''), count(*)
      from m join s on s.message_id = m.id group by 2, 3, 5
    )
    select ${messageColumns()} from m join s on s.message_id = m.id order by m.id`.execute(trx);
  return rows;
}

/** Marks an inbound message as read by the business. */
export async function setRead(db: Db, tenantId: number, id: string, nowIso: string): Promise<void> {
  await sql`select set_message_read(${tenantId}, ${id}::uuid, ${nowIso}::timestamptz)`.execute(db);
}

/** Stores the details of messages. @param details by message id */
export async function insertDetails(
  trx: Db,
  tenantId: number,
  details: ReadonlyMap<string, MessageDetails>,
): Promise<void> {
  if (details.size === 0) return;
  const rows = [...details].map(([message_id, { group_chat_id: _thread, ...rest }]) => ({ message_id, ...rest }));
  await sql`
    insert into message_details (tenant_id, message_id, origin, forwarding, referral, referred_product, username, identity_hash, is_standby, is_time_estimated)
    select ${tenantId}::bigint, r.message_id, r.origin, r.forwarding, r.referral, r.referred_product, r.username, r.identity_hash,
           coalesce(r.is_standby, false), coalesce(r.is_time_estimated, false)
    from jsonb_to_recordset(${JSON.stringify(rows)}::jsonb) as r (message_id uuid, origin text, forwarding text, referral jsonb,
      referred_product jsonb, username text, identity_hash text, is_standby boolean, is_time_estimated boolean)
    order by r.message_id
    on conflict do nothing`.execute(trx);
}
