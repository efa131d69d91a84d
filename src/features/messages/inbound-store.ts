import { sql } from 'kysely';
import type { Db } from '../../platform/database.ts';
import { MESSAGE_COLUMNS, type MessageRow } from './message.ts';

const columns = sql.raw(MESSAGE_COLUMNS.map(column => `m.${column}`).join(', '));

export interface OpenConversation {
  readonly id: number;
  readonly contact_id: number;
  readonly channel_id: number;
  /** Whether it has been counted this month. */
  readonly is_counted: boolean;
}

export interface NewWindow {
  readonly channelId: number;
  readonly contactId: number;
  /** ISO 8601. */
  readonly expiresAt: string;
}

/**
 * Makes conversations that are not there yet, and moves the ends of their windows forward, never back. Contacts are locked
 * first, as their deletion does: whoever took a conversation before could wait in a circle.
 * @param windows no conversation twice
 * @returns without those of contacts who have just been deleted; the rows stay locked
 */
export async function openWindows(
  trx: Db,
  tenantId: number,
  windows: readonly NewWindow[],
  month: string,
): Promise<OpenConversation[]> {
  const contactIds = windows.map(window => window.contactId);
  const { rows } = await sql<OpenConversation>`
    with p as materialized (
      select id from contacts where tenant_id = ${tenantId} and id = any(${contactIds}::bigint[]) order by id for key share
    )
    insert into conversations as v (tenant_id, contact_id, channel_id, window_expires_at)
    select ${tenantId}::bigint, w.contact_id, w.channel_id, w.expires_at
    from p join unnest(${contactIds}::bigint[], ${windows.map(window => window.channelId)}::bigint[], ${windows.map(window => window.expiresAt)}::timestamptz[])
      as w (contact_id, channel_id, expires_at) on w.contact_id = p.id
    order by w.contact_id, w.channel_id
    on conflict (tenant_id, contact_id, channel_id) do update
      set window_expires_at = greatest(v.window_expires_at, excluded.window_expires_at) where v.tenant_id = excluded.tenant_id
    returning id, contact_id, channel_id, coalesce(counted_month >= ${month}::date, false) as is_counted`.execute(trx);
  return rows;
}

/** Notes that conversations are counted in a month. They are locked by whoever found that they are not. */
export async function setCounted(
  trx: Db,
  tenantId: number,
  conversationIds: readonly number[],
  month: string,
): Promise<void> {
  await sql`
    update conversations set counted_month = ${month}::date where tenant_id = ${tenantId} and id = any(${conversationIds}::bigint[])`.execute(
    trx,
  );
}

/** Stores what came in; a message that is there already (the network delivers at least once) is left out. @returns the new ones, in order */
export async function insertInbound(trx: Db, tenantId: number, messages: readonly MessageRow[]): Promise<MessageRow[]> {
  const { rows } = await sql<MessageRow>`
    insert into messages as m (tenant_id, id, conversation_id, contact_id, channel_id, direction, type, body, content, status, error, wamid,
                               reply_to_wamid, sent_at, created_at, updated_at)
    select ${tenantId}::bigint, r.id, r.conversation_id, r.contact_id, r.channel_id, 'inbound', r.type, r.body, r.content, r.status, r.error, r.wamid,
           r.reply_to_wamid, r.sent_at, r.created_at, r.updated_at
    from jsonb_to_recordset(${JSON.stringify(messages)}::jsonb) as r (id uuid, conversation_id bigint, contact_id bigint, channel_id bigint,
      type text, body text, content jsonb, status text, error jsonb, wamid text, reply_to_wamid text, sent_at timestamptz,
      created_at timestamptz, updated_at timestamptz)
    order by r.id
    on conflict (tenant_id, id) do nothing
    returning ${columns}`.execute(trx);
  return rows;
}

/** Notes that an inbound message was read by the business. */
export async function setRead(db: Db, tenantId: number, id: string, nowIso: string): Promise<MessageRow | undefined> {
  const { rows } = await sql<MessageRow>`
    update messages m set read_at = coalesce(m.read_at, ${nowIso}::timestamptz), updated_at = ${nowIso}::timestamptz
    where m.tenant_id = ${tenantId} and m.id = ${id} and m.direction = 'inbound'
    returning ${columns}`.execute(db);
  return rows[0];
}
