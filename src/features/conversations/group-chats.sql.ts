import { sql } from 'kysely';
import type { Db } from '../../database/database.ts';
import { anyOf, transactionTime } from '../../database/expressions.ts';

/** Identifies a group chat by channel and network id. */
export interface NamedGroup {
  readonly channelId: number;
  readonly networkId: string;
}

/** Finds or creates group chats. @returns their ids by `groupKey` */
export async function ensureGroupChats(
  trx: Db,
  tenantId: number,
  groups: readonly NamedGroup[],
): Promise<Map<string, number>> {
  const [channelIds, networkIds] = [groups.map(({ channelId }) => channelId), groups.map(({ networkId }) => networkId)];
  const { rows } = await sql<{ id: number; channel_id: number; network_id: string }>`
    insert into group_chats as g (tenant_id, channel_id, network_id)
    select distinct ${tenantId}::bigint, n.channel_id, n.network_id from unnest(${channelIds}::bigint[], ${networkIds}::text[]) as n (channel_id, network_id)
    order by 2, 3
    on conflict (tenant_id, channel_id, network_id) do update set updated_at = g.updated_at where g.tenant_id = excluded.tenant_id
    returning id, channel_id, network_id`.execute(trx);
  return new Map(rows.map(row => [groupKey({ channelId: row.channel_id, networkId: row.network_id }), row.id]));
}

export const groupKey = ({ channelId, networkId }: NamedGroup): string => `${channelId} ${networkId}`;

export interface GroupPatch {
  readonly id: number;
  readonly told_at: string;
  readonly subject: string | null;
  readonly description: string | null;
  readonly invite_link: string | null;
  readonly join_approval_mode: string | null;
  readonly status: string | null;
}

/** Updates the fields that are not null. The latest update wins, whatever the order of arrival. */
export async function patchGroupChats(trx: Db, tenantId: number, patches: readonly GroupPatch[]): Promise<void> {
  for (const { id, told_at, subject, description, invite_link, join_approval_mode, status } of patches)
    await trx
      .updateTable('group_chats')
      .set(({ fn, val }) => ({
        subject: fn.coalesce(val(subject), 'subject'),
        description: fn.coalesce(val(description), 'description'),
        invite_link: fn.coalesce(val(invite_link), 'invite_link'),
        join_approval_mode: fn.coalesce(val(join_approval_mode), 'join_approval_mode'),
        status: fn.coalesce(val(status), 'status'),
        told_at,
        updated_at: transactionTime,
      }))
      .where('tenant_id', '=', tenantId)
      .where('id', '=', id)
      .where(eb => eb.or([eb('told_at', 'is', null), eb('told_at', '<=', told_at)]))
      .execute();
}

export interface Membership {
  readonly group_chat_id: number;
  readonly contact_id: number;
  readonly is_member: boolean;
  readonly told_at: string;
}

/** Appends joins and leaves, without those that repeat the known state. */
export async function insertMemberships(trx: Db, tenantId: number, memberships: readonly Membership[]): Promise<void> {
  await sql`
    insert into group_chat_participants (tenant_id, group_chat_id, contact_id, is_member, told_at)
    select distinct on (r.group_chat_id, r.contact_id, r.told_at, r.is_member) ${tenantId}::bigint, r.group_chat_id, r.contact_id, r.is_member, r.told_at
    from jsonb_to_recordset(${JSON.stringify(memberships)}::jsonb) as r (group_chat_id bigint, contact_id bigint, is_member boolean, told_at timestamptz)
    where r.is_member is distinct from (
      select p.is_member from group_chat_participants p
      where p.tenant_id = ${tenantId} and p.group_chat_id = r.group_chat_id and p.contact_id = r.contact_id and p.told_at <= r.told_at
      order by p.told_at desc, p.id desc limit 1)
    order by r.group_chat_id, r.contact_id, r.told_at, r.is_member`.execute(trx);
}

/** A group chat as events carry it. The invite link is left out: with it anybody can join. */
export interface PublicGroupChat {
  readonly id: number;
  readonly channel_id: number;
  readonly network_id: string;
  readonly subject: string;
  readonly description: string | null;
  readonly status: string;
  readonly join_approval_mode: string | null;
  readonly created_at: string;
  readonly updated_at: string;
}

export const GROUP_CHAT_COLUMNS = [
  'id',
  'channel_id',
  'network_id',
  'subject',
  'description',
  'status',
  'join_approval_mode',
  'created_at',
  'updated_at',
] as const satisfies readonly (keyof PublicGroupChat)[];

export const getGroupChats = (db: Db, tenantId: number, ids: readonly number[]): Promise<readonly PublicGroupChat[]> =>
  db
    .selectFrom('group_chats')
    .select(GROUP_CHAT_COLUMNS)
    .where('tenant_id', '=', tenantId)
    .where('id', '=', anyOf(ids))
    .orderBy('id')
    .execute();

/** Participants of group chats by their latest report, in order of appearance. */
export async function getParticipants(
  db: Db,
  tenantId: number,
  groupChatIds: readonly number[],
): Promise<{ readonly group_chat_id: number; readonly contact_id: number }[]> {
  const { rows } = await sql<{ group_chat_id: number; contact_id: number }>`
    select group_chat_id, contact_id from (
      select distinct on (p.group_chat_id, p.contact_id) p.group_chat_id, p.contact_id, p.is_member
      from group_chat_participants p
      where p.tenant_id = ${tenantId} and p.group_chat_id = any(${groupChatIds}::bigint[])
      order by p.group_chat_id, p.contact_id, p.told_at desc, p.id desc
    ) latest where is_member order by group_chat_id, contact_id`.execute(db);
  return rows;
}
