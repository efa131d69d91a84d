import { sql } from 'kysely';
import type { Author } from '../../../core/author.ts';
import type { Db } from '../../../database/database.ts';
import type { MessageRow } from '../message.ts';
import { messageColumns } from '../messages.sql.ts';

/** A message that was sent by another system, or before the number was connected. */
export interface ExternalMessage {
  readonly wamid: string;
  readonly conversation_id: number;
  readonly contact_id: number;
  readonly channel_id: number;
  readonly direction: 'inbound' | 'outbound';
  readonly type: string;
  readonly body: string | null;
  readonly content: Readonly<Record<string, unknown>>;
  readonly status: MessageRow['status'];
  readonly error: MessageRow['error'];
  readonly reply_to_wamid: string | null;
  readonly author: Author | null;
  /** Of the person's number; ISO 3166-1 alpha-2. */
  readonly country: string | null;
  readonly sent_at: string;
  readonly created_at: string;
  readonly updated_at: string;
  /** The network's timestamp in milliseconds. */
  readonly network_ms: number;
  /** Arrival of its webhook. */
  readonly arrived_ms: number;
}

/** Stores messages with their states, in the order given, skipping duplicates. @returns the new messages */
export async function insertExternalMessages(
  trx: Db,
  tenantId: number,
  messages: readonly ExternalMessage[],
): Promise<MessageRow[]> {
  const { rows } = await sql<MessageRow>`
    with r as materialized (
      select o.*, message_id_at(least(o.arrived_ms, o.network_ms + 999), nextval('message_arrivals')) as id
      from (
        select * from rows from (jsonb_to_recordset(${JSON.stringify(messages)}::jsonb) as (wamid text, conversation_id bigint,
          contact_id bigint, channel_id bigint, direction text, type text, body text, content jsonb, status text, error jsonb,
          reply_to_wamid text, author jsonb, country text, sent_at timestamptz, created_at timestamptz, updated_at timestamptz, network_ms bigint, arrived_ms bigint))
          with ordinality as x (wamid, conversation_id, contact_id, channel_id, direction, type, body, content, status, error,
            reply_to_wamid, author, country, sent_at, created_at, updated_at, network_ms, arrived_ms, place)
        order by x.network_ms, x.place
      ) o
    ), w as (
      insert into message_wamids (tenant_id, channel_id, wamid, message_id)
      select ${tenantId}::bigint, r.channel_id, r.wamid, r.id from r order by r.channel_id, r.wamid, r.place
      on conflict (tenant_id, channel_id, wamid) do nothing
      returning message_id
    ), m as (
      insert into messages as m (tenant_id, id, conversation_id, contact_id, channel_id, direction, type, body, content, reply_to_wamid, created_at, author)
      select ${tenantId}::bigint, r.id, r.conversation_id, r.contact_id, r.channel_id, r.direction, r.type, r.body, r.content, r.reply_to_wamid, r.created_at, nullif(r.author, 'null')
      from r join w on w.message_id = r.id order by r.id
      returning m.*
    ), s as (
      insert into message_states as s (tenant_id, message_id, status, error, wamid, sent_at, delivered_at, read_at, failed_at, updated_at, country)
      select ${tenantId}::bigint, r.id, r.status, r.error, r.wamid, r.sent_at, case when r.status in ('delivered', 'read') then r.sent_at end,
             case when r.status = 'read' then r.sent_at end, case when r.status = 'failed' then r.sent_at end, r.updated_at, r.country
      from r join w on w.message_id = r.id order by r.id
      returning s.*
    ), u as (
      insert into message_updates (tenant_id, message_id, updated_at, status)
      select ${tenantId}::bigint, s.message_id, s.updated_at, s.status from s
    ), f as (
      insert into message_failures (tenant_id, failed_at, message_id, code, channel_id, contact_id)
      select ${tenantId}::bigint, s.failed_at, s.message_id, failure_code(s.status, s.error), m.channel_id, m.contact_id
      from s join m on m.id = s.message_id where s.status = 'failed'
    ), t as (
      insert into message_statistics_pending (tenant_id, hour, channel_id, author, status, country, error_code, delivery_bucket, messages)
      select ${tenantId}::bigint, date_trunc('hour', m.created_at, 'UTC'), m.channel_id, coalesce(m.author->>'kind', ''), s.status,
        coalesce(s.country, ''), failure_code(s.status, s.error), delivery_bucket(m.author, m.created_at, s.sent_at, s.delivered_at), count(*)
      from m join s on s.message_id = m.id group by 2, 3, 4, 5, 6, 7, 8
    )
    select ${messageColumns()} from m join s on s.message_id = m.id order by m.id`.execute(trx);
  return rows;
}

/** The content of a message that was stored as a placeholder. */
export interface Filling {
  readonly channel_id: number;
  readonly wamid: string;
  readonly type: string;
  readonly body: string | null;
  readonly content: Readonly<Record<string, unknown>>;
}

/** Fills placeholders of a history import. @returns the filled messages */
export async function fillPlaceholders(
  trx: Db,
  tenantId: number,
  fillings: readonly Filling[],
): Promise<Pick<MessageRow, 'id' | 'channel_id' | 'type' | 'content'>[]> {
  const { rows } = await sql<Pick<MessageRow, 'id' | 'channel_id' | 'type' | 'content'>>`
    with found as materialized (
      select w.message_id, r.type, r.body, r.content
      from jsonb_to_recordset(${JSON.stringify(fillings)}::jsonb) as r (channel_id bigint, wamid text, type text, body text, content jsonb)
      join message_wamids w on w.tenant_id = ${tenantId} and w.channel_id = r.channel_id and w.wamid = r.wamid
    )
    update messages m set type = f.type, body = f.body, content = f.content from found f
    where m.tenant_id = ${tenantId} and m.id = f.message_id and m.type = 'media_placeholder'
    returning m.id, m.channel_id, m.type, m.content`.execute(trx);
  return rows;
}

/** The stored message of a call. */
export interface CallRow {
  readonly message_id: string;
  readonly wamid: string;
  readonly channel_id: number;
  readonly content: Readonly<Record<string, unknown>>;
}

/** Finds calls and locks them until the transaction ends. */
export async function lockCalls(
  trx: Db,
  tenantId: number,
  calls: readonly { readonly channelId: number; readonly callId: string }[],
): Promise<CallRow[]> {
  const { rows } = await sql<CallRow>`
    select m.id as message_id, w.wamid, w.channel_id, m.content
    from unnest(${calls.map(({ channelId }) => channelId)}::bigint[], ${calls.map(({ callId }) => callId)}::text[]) as c (channel_id, wamid)
    join message_wamids w on w.tenant_id = ${tenantId} and w.channel_id = c.channel_id and w.wamid = c.wamid
    join messages m on m.tenant_id = ${tenantId} and m.id = w.message_id and m.type = 'call'
    join message_states s on s.tenant_id = ${tenantId} and s.message_id = m.id
    order by m.id for update of s`.execute(trx);
  return rows;
}

export async function writeCalls(trx: Db, tenantId: number, calls: readonly CallRow[]): Promise<void> {
  await sql`
    update messages m set content = r.content
    from jsonb_to_recordset(${JSON.stringify(calls)}::jsonb) as r (message_id uuid, content jsonb)
    where m.tenant_id = ${tenantId} and m.id = r.message_id and m.id = any(${calls.map(({ message_id }) => message_id)}::uuid[])`.execute(
    trx,
  );
}
