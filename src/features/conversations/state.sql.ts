import { sql } from 'kysely';
import type { Db } from '../../database/database.ts';
import { anyByKey } from '../../database/expressions.ts';
import { currentConversationId, firstAssignee, PUBLIC_CONVERSATION } from './columns.ts';
import type { ConversationStatus, PublicConversation } from './conversation.ts';

/**
 * Lock order of conversations, to avoid deadlocks: tenant_usage, contacts by id, conversations by id, what belongs to them, the
 * counters of the month. Lock order of several conversations: by id, in one statement.
 */

/** A contact on a channel, and the initial state of a conversation that is created for them. */
export interface ConversationKey {
  readonly channelId: number;
  readonly contactId: number;
  /** Of a conversation that is created. */
  readonly status: ConversationStatus;
  /** Time of a message from before the conversation is created; undefined: it begins now. */
  readonly pastActivityAt?: string | undefined;
}

/** A locked conversation, as it was before the change to come. */
export interface LockedConversation extends PublicConversation {
  readonly is_new: boolean;
  /** Whether a bot has it, and the tenant still has bots that will read its next message. */
  readonly is_with_bot: boolean;
  /** Whether it is counted for the month. */
  readonly is_counted: boolean;
}

/**
 * Locks the conversations of contacts on channels and creates those that are missing, for the assignee of their contact or of the account. A conversation that
 * exists is not written, because the messages that follow update it once.
 * @param month first day of the month, for `is_counted`
 * @returns those of deleted contacts are missing
 */
export async function lockOrInsertConversations(
  trx: Db,
  tenantId: number,
  keys: readonly ConversationKey[],
  month: string,
): Promise<LockedConversation[]> {
  const contactIds = keys.map(({ contactId }) => contactId);
  const { rows } = await sql<LockedConversation>`
    with p as materialized (
      select id, assigned_id from contacts where tenant_id = ${tenantId} and id = ${anyByKey(contactIds)} order by id for no key update
    ), t as materialized (
      select distinct on (t.contact_id, t.channel_id) t.contact_id, t.channel_id, t.status, t.past_activity_at, p.assigned_id
      from p join unnest(${contactIds}::bigint[], ${keys.map(({ channelId }) => channelId)}::bigint[], ${keys.map(({ status }) => status)}::text[],
        ${keys.map(({ pastActivityAt }) => pastActivityAt ?? null)}::timestamptz[]) as t (contact_id, channel_id, status, past_activity_at) on t.contact_id = p.id
      order by t.contact_id, t.channel_id
    ), found as materialized (
      -- By contact and then by key: without statistics, the index of a channel looks as good, and a join reads all conversations.
      select v.* from conversations v where v.tenant_id = ${tenantId} and v.id = any(array(
        select k.id from t cross join lateral (
          select c.id, c.channel_id from conversations c where c.tenant_id = ${tenantId} and c.contact_id = t.contact_id offset 0) k
        where k.channel_id = t.channel_id))
        -- Checked again once it is locked: undoing a merge may have moved it meanwhile.
        and v.contact_id = any(array(select contact_id from t))
      order by v.id for no key update
    ), made as (
      -- A conflict: it was created while the statement waited for the contact.
      insert into conversations as v (tenant_id, contact_id, channel_id, status, assignee_id, last_activity_at)
      select ${tenantId}::bigint, t.contact_id, t.channel_id, t.status, ${firstAssignee(tenantId, sql`t.assigned_id`)},
        coalesce(t.past_activity_at, now())
      from t
      where not exists (select from found f where f.contact_id = t.contact_id and f.channel_id = t.channel_id)
      order by t.contact_id, t.channel_id
      on conflict (tenant_id, contact_id, channel_id) do update set counted_month = v.counted_month where v.tenant_id = excluded.tenant_id
      returning v.*, v.xmax = 0 as is_new
    )
    select ${PUBLIC_CONVERSATION}, coalesce(v.counted_month >= ${month}::date, false) as is_counted, v.is_new,
      v.status = 'pending' and exists (
        select from bots b join tenants n on n.tenant_id = b.tenant_id join plans p on p.id = n.plan_id and 'bots' = any(p.features)
        where b.tenant_id = ${tenantId} and b.is_enabled) as is_with_bot
    from (select found.*, false as is_new from found union all select * from made) v`.execute(trx);
  return rows;
}

/** Fold of the messages of one conversation that arrive together. */
export interface MessageFold {
  readonly id: number;
  /** Inbound messages to be read. */
  readonly unread: number;
  /** Whether the unread count is reset. */
  readonly is_read: boolean;
  /** Whether a message answers what waits. */
  readonly is_answered: boolean;
  /** Time of the oldest inbound message after the answer. */
  readonly waiting_since: string | null;
  readonly last_message_id: string | null;
  readonly last_activity_at: string | null;
  readonly window_expires_at: string | null;
  readonly counted_month: string | null;
  /** Null: unchanged. */
  readonly status: ConversationStatus | null;
}

/**
 * Writes what messages change: one update of each conversation, HOT within ten minutes of activity while the page has room. The
 * conversations have been locked. @returns them as they are now
 */
export async function applyFolds(
  trx: Db,
  tenantId: number,
  folds: readonly MessageFold[],
  nowIso: string,
): Promise<PublicConversation[]> {
  const { rows } = await sql<PublicConversation>`
    update conversations v set
      unread_count = case when r.is_read then 0 else v.unread_count end + r.unread,
      waiting_since = case when r.is_answered then r.waiting_since else coalesce(v.waiting_since, r.waiting_since) end,
      last_message_id = greatest(v.last_message_id, r.last_message_id),
      last_activity_at = greatest(v.last_activity_at, r.last_activity_at),
      window_expires_at = greatest(v.window_expires_at, r.window_expires_at),
      counted_month = greatest(v.counted_month, r.counted_month),
      status = coalesce(r.status, v.status),
      snoozed_until = case when r.status is null then v.snoozed_until end,
      updated_at = ${nowIso}::timestamptz
    from jsonb_to_recordset(${JSON.stringify(folds)}::jsonb) as r (id bigint, unread integer, is_read boolean, is_answered boolean,
      waiting_since timestamptz, last_message_id uuid, last_activity_at timestamptz, window_expires_at timestamptz, counted_month date, status text)
    where v.tenant_id = ${tenantId} and v.id = r.id
    returning ${PUBLIC_CONVERSATION}`.execute(trx);
  return rows;
}

/**
 * Unread count and start of the wait that remain after an answer that arrives late: inbound messages before it no longer count. The
 * conversations are locked.
 */
export async function findUnanswered(
  trx: Db,
  tenantId: number,
  answers: readonly { readonly id: number; readonly answerId: string }[],
): Promise<{ readonly id: number; readonly unread: number; readonly waiting_since: string | null }[]> {
  if (answers.length === 0) return [];
  const { rows } = await sql<{ id: number; unread: number; waiting_since: string | null }>`
    select v.id, least(v.unread_count, l.count)::float8 as unread,
      case when v.waiting_since is not null and l.count > 0 then greatest(v.waiting_since, l.since) end as waiting_since
    from unnest(${answers.map(({ id }) => id)}::bigint[], ${answers.map(({ answerId }) => answerId)}::uuid[]) as a (id, answer_id)
    join conversations v on v.tenant_id = ${tenantId} and v.id = a.id
    cross join lateral (
      select count(*) as count, min(coalesce(s.sent_at, m.created_at)) as since
      from messages m join message_states s on s.tenant_id = ${tenantId} and s.message_id = m.id
      where m.tenant_id = ${tenantId} and m.conversation_id = a.id and m.id > a.answer_id and m.direction = 'inbound'
        and m.type not in ('reaction', 'system')) l`.execute(trx);
  return rows;
}

/** The last answer with the phone app, or by another app, after each of some messages, by conversation. */
export async function findPhoneAnswers(
  trx: Db,
  tenantId: number,
  messages: readonly { readonly id: string; readonly conversation_id: number }[],
): Promise<Map<number, string>> {
  if (messages.length === 0) return new Map();
  const { rows } = await sql<{ id: number; answer_id: string }>`
    select i.conversation_id as id, max(m.id::text)::uuid as answer_id
    from unnest(${messages.map(one => one.conversation_id)}::bigint[], ${messages.map(one => one.id)}::uuid[]) as i (conversation_id, message_id)
    cross join lateral (
      select m.id from messages m where m.tenant_id = ${tenantId} and m.conversation_id = i.conversation_id and m.id > i.message_id
        and m.direction = 'outbound' and m.type not in ('reaction', 'call') and coalesce(m.author ->> 'kind', 'phone_app') = 'phone_app' offset 0) m
    group by 1`.execute(trx);
  return new Map(rows.map(row => [row.id, row.answer_id]));
}

export async function getConversations(
  db: Db,
  tenantId: number,
  ids: readonly number[],
): Promise<PublicConversation[]> {
  const { rows } = await sql<PublicConversation>`
    select ${PUBLIC_CONVERSATION} from conversations v where v.tenant_id = ${tenantId} and v.id = ${anyByKey(ids)} order by v.id`.execute(
    db,
  );
  return rows;
}

/** The conversations of contacts, by id. */
export async function conversationsOf(
  db: Db,
  tenantId: number,
  contactIds: readonly number[],
): Promise<PublicConversation[]> {
  const { rows } = await sql<PublicConversation>`
    select ${PUBLIC_CONVERSATION} from conversations v
    where v.tenant_id = ${tenantId} and v.contact_id = ${anyByKey(contactIds)} order by v.id`.execute(db);
  return rows;
}

/** The conversation with an id, or the one that merges have folded it into. */
export async function resolveConversation(
  db: Db,
  tenantId: number,
  id: number,
): Promise<PublicConversation | undefined> {
  const { rows } = await sql<PublicConversation>`
    select ${PUBLIC_CONVERSATION} from conversations v
    where v.tenant_id = ${tenantId} and v.id = ${currentConversationId(tenantId, id)}`.execute(db);
  return rows[0];
}

/** The ids of conversations, or of those that merges have folded them into, in the order given; ids that do not exist stay as they are. */
export async function currentIds(db: Db, tenantId: number, ids: readonly number[]): Promise<number[]> {
  const { rows } = await sql<{ id: number }>`
    select ${currentConversationId(tenantId, sql`i.id`)} as id
    from unnest(${ids}::bigint[]) with ordinality as i (id, place) order by i.place`.execute(db);
  return rows.map(({ id }) => id);
}

/** Deletes the conversations of contacts. @returns them as they were */
export async function deleteConversationsOf(
  trx: Db,
  tenantId: number,
  contactIds: readonly number[],
): Promise<PublicConversation[]> {
  const { rows } = await sql<PublicConversation>`
    delete from conversations v where v.tenant_id = ${tenantId} and v.contact_id = ${anyByKey(contactIds)}
    returning ${PUBLIC_CONVERSATION}`.execute(trx);
  return rows;
}

/** Counts inbound messages after the one that was read, without reactions and system messages. */
export async function countUnread(
  trx: Db,
  tenantId: number,
  conversationId: number,
  upToMessageId: string,
): Promise<number> {
  const { count } = await trx
    .selectFrom('messages')
    .select(({ fn }) => fn.countAll<number>().as('count'))
    .where('tenant_id', '=', tenantId)
    .where('conversation_id', '=', conversationId)
    .where('id', '>', upToMessageId)
    .where('direction', '=', sql.lit('inbound'))
    .where('type', 'not in', [sql.lit('reaction'), sql.lit('system')])
    .executeTakeFirstOrThrow();
  return count;
}

/**
 * The last inbound message that counts as unread.
 * @param of an id: that message; `beforeCall`: the last one before a call that the network can mark, which no call is
 */
export const findLastInbound = (
  db: Db,
  tenantId: number,
  conversationId: number,
  of: { readonly id?: string | undefined; readonly beforeCall?: string } = {},
): Promise<{ readonly id: string; readonly type: string } | undefined> =>
  db
    .selectFrom('messages')
    .select(['id', 'type'])
    .where('tenant_id', '=', tenantId)
    .where('conversation_id', '=', conversationId)
    .where('direction', '=', sql.lit('inbound'))
    .where('type', 'not in', [sql.lit('reaction'), sql.lit('system')])
    .$if(of.id !== undefined, query => query.where('id', '=', of.id ?? ''))
    .$if(of.beforeCall !== undefined, query =>
      query.where('id', '<', of.beforeCall ?? '').where('type', '<>', sql.lit('call')),
    )
    .orderBy('id', 'desc')
    .limit(1)
    .executeTakeFirst();
