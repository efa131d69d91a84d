import { sql } from 'kysely';
import type { Db } from '../../database/database.ts';
import { anyOf } from '../../database/expressions.ts';
import type { Referral } from '../../network/updates.ts';

/** A message by its id on the network, which other messages name. */
export interface NetworkKey {
  readonly channelId: number;
  readonly wamid: string;
}

export interface Reaction {
  readonly channel_id: number;
  readonly original_wamid: string;
  readonly contact_id: number;
  readonly direction: 'inbound' | 'outbound';
  readonly emoji: string;
  readonly occurred_at: string;
}

const keyed = (keys: readonly NetworkKey[]) =>
  sql`unnest(${keys.map(({ channelId }) => channelId)}::bigint[], ${keys.map(({ wamid }) => wamid)}::text[]) as o (channel_id, wamid)`;

/** The reactions to messages, oldest first: of each person the latest, unless it was taken back. */
export async function getReactions(db: Db, tenantId: number, keys: readonly NetworkKey[]): Promise<Reaction[]> {
  const { rows } = await sql<Reaction>`
    select l.channel_id, l.original_wamid, l.contact_id, l.direction, l.emoji, l.occurred_at from (
      select distinct on (r.channel_id, r.original_wamid, r.contact_id, r.direction) r.*
      from ${keyed(keys)}
      join message_reactions r on r.tenant_id = ${tenantId} and r.channel_id = o.channel_id and r.original_wamid = o.wamid
      order by r.channel_id, r.original_wamid, r.contact_id, r.direction, r.occurred_at desc, r.position desc
    ) l where l.emoji is not null order by l.occurred_at, l.position`.execute(db);
  return rows;
}

export interface Edit {
  readonly channel_id: number;
  readonly original_wamid: string;
  /** The text before the edit. */
  readonly text: string | null;
  readonly occurred_at: string;
}

/** The edits of messages, oldest first. */
export async function getEdits(db: Db, tenantId: number, keys: readonly NetworkKey[]): Promise<Edit[]> {
  const { rows } = await sql<Edit>`
    select e.channel_id, e.original_wamid, e.previous->>'body' as text, e.occurred_at
    from ${keyed(keys)}
    join message_edits e on e.tenant_id = ${tenantId} and e.channel_id = o.channel_id and e.original_wamid = o.wamid
      and e.kind = 'edit' and e.is_applied
    order by e.occurred_at, e.position`.execute(db);
  return rows;
}

export interface Additions {
  readonly message_id: string;
  readonly forwarding: string | null;
  readonly referral: Referral | null;
  readonly edited_at: string | null;
  readonly revoked_at: string | null;
}

/** Additions of messages: context and later changes. Messages without any have no row. */
export const getAdditions = (db: Db, tenantId: number, ids: readonly string[]): Promise<Additions[]> =>
  db
    .selectFrom('message_details')
    .select(['message_id', 'forwarding', 'referral', 'edited_at', 'revoked_at'])
    .where('tenant_id', '=', tenantId)
    .where('message_id', '=', anyOf(ids))
    .$narrowType<{ referral: Referral | null }>()
    .execute();
