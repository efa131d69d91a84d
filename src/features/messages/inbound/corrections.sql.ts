import { sql } from 'kysely';
import type { Db } from '../../../database/database.ts';

/** An edit or a revocation. */
export interface Correction {
  readonly channel_id: number;
  readonly wamid: string;
  readonly original_wamid: string;
  readonly kind: 'edit' | 'revoke';
  readonly direction: 'inbound' | 'outbound';
  /** The contact of the conversation; null if the network does not name it. */
  readonly contact_id: number | null;
  readonly occurred_at: string;
  readonly body: string | null;
  readonly content: Readonly<Record<string, unknown>> | null;
}

/** Stores edits and revocations; repeated deliveries are ignored. */
export async function insertCorrections(trx: Db, tenantId: number, corrections: readonly Correction[]): Promise<void> {
  await sql`
    insert into message_edits (tenant_id, channel_id, wamid, original_wamid, kind, direction, contact_id, occurred_at, body, content)
    select ${tenantId}::bigint, r.channel_id, r.wamid, r.original_wamid, r.kind, r.direction, r.contact_id, r.occurred_at, r.body, r.content
    from rows from (jsonb_to_recordset(${JSON.stringify(corrections)}::jsonb) as (channel_id bigint, wamid text, original_wamid text, kind text,
      direction text, contact_id bigint, occurred_at timestamptz, body text, content jsonb)) with ordinality
      as r (channel_id, wamid, original_wamid, kind, direction, contact_id, occurred_at, body, content, place)
    order by r.place
    on conflict do nothing`.execute(trx);
}

/** Author of a message. */
export interface Author {
  readonly channel_id: number;
  readonly wamid: string;
  readonly direction: 'inbound' | 'outbound';
  readonly contact_id: number;
}

/** The authors of messages by the network's ids, of those that are stored. */
export async function getAuthors(
  trx: Db,
  tenantId: number,
  originals: readonly { readonly channelId: number; readonly wamid: string }[],
): Promise<Author[]> {
  const { rows } = await sql<Author>`
    select w.channel_id, w.wamid, m.direction, m.contact_id
    from unnest(${originals.map(({ channelId }) => channelId)}::bigint[], ${originals.map(({ wamid }) => wamid)}::text[]) as o (channel_id, wamid)
    join message_wamids w on w.tenant_id = ${tenantId} and w.channel_id = o.channel_id and w.wamid = o.wamid
    join messages m on m.tenant_id = ${tenantId} and m.id = w.message_id`.execute(trx);
  return rows;
}

/** A correction to be applied, with the current state of its message. */
export interface PendingCorrection extends Correction {
  readonly message_id: string;
  readonly message_type: string;
  readonly message_body: string | null;
  readonly message_content: Readonly<Record<string, unknown>>;
  readonly edited_at: string | null;
  readonly revoked_at: string | null;
}

/**
 * Locks the pending corrections of messages with the states of the messages, and returns them in the network's order. Only the author
 * can correct a message: the business, or the contact that wrote it, also in a group chat.
 */
export async function lockCorrections(
  trx: Db,
  tenantId: number,
  originals: readonly { readonly channelId: number; readonly wamid: string }[],
): Promise<PendingCorrection[]> {
  const { rows } = await sql<PendingCorrection>`
    select e.channel_id, e.wamid, e.original_wamid, e.kind, e.direction, e.contact_id, e.occurred_at, e.body, e.content, m.id as message_id,
           m.type as message_type, m.body as message_body, m.content as message_content, d.edited_at, d.revoked_at
    from unnest(${originals.map(({ channelId }) => channelId)}::bigint[], ${originals.map(({ wamid }) => wamid)}::text[]) as o (channel_id, wamid)
    join message_edits e on e.tenant_id = ${tenantId} and e.channel_id = o.channel_id and e.original_wamid = o.wamid and not e.is_applied
    join message_wamids w on w.tenant_id = ${tenantId} and w.channel_id = e.channel_id and w.wamid = e.original_wamid
    join messages m on m.tenant_id = ${tenantId} and m.id = w.message_id and m.direction = e.direction
      and (m.direction = 'outbound' or m.contact_id = e.contact_id)
    join message_states s on s.tenant_id = ${tenantId} and s.message_id = m.id
    left join message_details d on d.tenant_id = ${tenantId} and d.message_id = m.id
    order by m.id, e.occurred_at, e.position for update of s, e`.execute(trx);
  return rows;
}

/** A message after its corrections. */
export interface CorrectedMessage {
  readonly message_id: string;
  readonly body: string | null;
  readonly content: Readonly<Record<string, unknown>>;
  readonly edited_at: string | null;
  readonly revoked_at: string | null;
}

export async function writeCorrected(trx: Db, tenantId: number, messages: readonly CorrectedMessage[]): Promise<void> {
  const ids = messages.map(message => message.message_id);
  await sql`
    with r as (
      select * from jsonb_to_recordset(${JSON.stringify(messages)}::jsonb) as r (message_id uuid, body text, content jsonb, edited_at timestamptz, revoked_at timestamptz)
    ), m as (
      update messages m set body = r.body, content = r.content from r
      where m.tenant_id = ${tenantId} and m.id = r.message_id and m.id = any(${ids}::uuid[])
        and (m.body, m.content) is distinct from (r.body, r.content)
    )
    insert into message_details as d (tenant_id, message_id, edited_at, revoked_at)
    select ${tenantId}::bigint, r.message_id, r.edited_at, r.revoked_at from r order by r.message_id
    on conflict (tenant_id, message_id) do update set edited_at = excluded.edited_at, revoked_at = excluded.revoked_at`.execute(
    trx,
  );
}

/** Marks corrections as applied, with the previous content of their messages. */
export async function setApplied(
  trx: Db,
  tenantId: number,
  applied: readonly { readonly channel_id: number; readonly wamid: string; readonly previous: unknown }[],
): Promise<void> {
  await sql`
    update message_edits e set is_applied = true, previous = r.previous
    from jsonb_to_recordset(${JSON.stringify(applied)}::jsonb) as r (channel_id bigint, wamid text, previous jsonb)
    where e.tenant_id = ${tenantId} and e.channel_id = r.channel_id and e.wamid = r.wamid`.execute(trx);
}
