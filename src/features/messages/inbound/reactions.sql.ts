import { sql } from 'kysely';
import type { Db } from '../../../database/database.ts';

export interface ReactionRow {
  readonly channel_id: number;
  readonly original_wamid: string;
  readonly contact_id: number;
  readonly direction: 'inbound' | 'outbound';
  /** Null: the reaction was removed. */
  readonly emoji: string | null;
  readonly wamid: string;
  readonly occurred_at: string;
}

/** Stores reactions. @returns the new ones that are the person's latest to their message, with the message's id, by time */
export async function insertReactions(
  trx: Db,
  tenantId: number,
  reactions: readonly ReactionRow[],
): Promise<(ReactionRow & { readonly message_id: string | null })[]> {
  const { rows } = await sql<ReactionRow & { message_id: string | null }>`
    with r as (
      select * from rows from (jsonb_to_recordset(${JSON.stringify(reactions)}::jsonb) as (channel_id bigint, original_wamid text,
        contact_id bigint, direction text, emoji text, wamid text, occurred_at timestamptz)) with ordinality
        as x (channel_id, original_wamid, contact_id, direction, emoji, wamid, occurred_at, place)
    ), n as (
      insert into message_reactions (tenant_id, channel_id, wamid, original_wamid, contact_id, direction, emoji, occurred_at)
      select ${tenantId}::bigint, r.channel_id, r.wamid, r.original_wamid, r.contact_id, r.direction, r.emoji, r.occurred_at from r order by r.place
      on conflict do nothing
      returning channel_id, wamid
    )
    select r.channel_id, r.original_wamid, r.contact_id, r.direction, r.emoji, r.wamid, r.occurred_at, w.message_id
    from n join r on r.channel_id = n.channel_id and r.wamid = n.wamid
    left join message_wamids w on w.tenant_id = ${tenantId} and w.channel_id = r.channel_id and w.wamid = r.original_wamid
    where not exists (
      select from message_reactions o
      where o.tenant_id = ${tenantId} and o.channel_id = r.channel_id and o.original_wamid = r.original_wamid
        and o.contact_id = r.contact_id and o.direction = r.direction and o.occurred_at > r.occurred_at)
    order by r.occurred_at, r.place`.execute(trx);
  return rows;
}

/** @returns whether it was stored */
export async function deleteReaction(
  trx: Db,
  tenantId: number,
  { channel_id, wamid }: Pick<ReactionRow, 'channel_id' | 'wamid'>,
): Promise<boolean> {
  const { numDeletedRows } = await trx
    .deleteFrom('message_reactions')
    .where('tenant_id', '=', tenantId)
    .where('channel_id', '=', channel_id)
    .where('wamid', '=', wamid)
    .executeTakeFirstOrThrow();
  return numDeletedRows > 0n;
}
