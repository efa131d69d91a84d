import { sql } from 'kysely';
import { newIdAt, timeOfId } from '../../core/ids.ts';
import type { Db } from '../../database/database.ts';
import { anyByKey, statementTime } from '../../database/expressions.ts';
import { DAY } from '../../platform/clock.ts';
import { PUBLIC_CONVERSATION } from './columns.ts';
import type { PublicConversation } from './conversation.ts';
import type { BotDecision, TransitionState } from './transition.ts';

/** Locks conversations until the transaction ends. Lock order: after contacts, by id. */
export async function lockConversations(
  trx: Db,
  tenantId: number,
  ids: readonly number[],
): Promise<PublicConversation[]> {
  const { rows } = await sql<PublicConversation>`
    select ${PUBLIC_CONVERSATION} from conversations v
    where v.tenant_id = ${tenantId} and v.id = ${anyByKey(ids)} order by v.id for no key update`.execute(trx);
  return rows;
}

/** The network retries a webhook for this long, and ids have the time of writing: a message that arrives now may have an id this old. */
const LATEST_ARRIVAL_MS = 7 * DAY;

/**
 * The last message of the person that was stored after another one of the conversation, which is locked. Reactions and system messages
 * need not be read. @returns undefined if the other one is not of the conversation
 */
export async function findInboundAfter(
  trx: Db,
  tenantId: number,
  conversationId: number,
  afterId: string,
): Promise<{ readonly later_id: string | null } | undefined> {
  const from = newIdAt(Math.max(0, timeOfId(afterId) - LATEST_ARRIVAL_MS));
  const { rows } = await sql<{ later_id: string | null }>`
    with written as materialized (
      -- Without a condition on created_at: its index has the messages of all conversations.
      select m.id, m.created_at from messages m
      where m.tenant_id = ${tenantId} and m.conversation_id = ${conversationId} and m.id > ${from}::uuid and m.direction = 'inbound'
        and m.type not in ('reaction', 'system')
    )
    select (
      select w.id from written w where (w.created_at, w.id) > (e.created_at, e.id)
      order by w.created_at desc, w.id desc limit 1) as later_id
    from messages e where e.tenant_id = ${tenantId} and e.id = ${afterId}::uuid and e.conversation_id = ${conversationId}`.execute(
    trx,
  );
  return rows[0];
}

/** Locks the conversations whose status a bot's decision may change. */
export async function lockForBots(
  trx: Db,
  tenantId: number,
  decisions: readonly BotDecision[],
): Promise<(PublicConversation & { readonly is_answered: boolean })[]> {
  const { rows } = await sql<PublicConversation & { readonly is_answered: boolean }>`
    select ${PUBLIC_CONVERSATION}, d.is_answered
    from unnest(${decisions.map(one => one.contactId)}::bigint[], ${decisions.map(one => one.channelId)}::bigint[],
                ${decisions.map(one => one.isAnswered)}::boolean[]) as d (contact_id, channel_id, is_answered)
    join conversations v on v.tenant_id = ${tenantId} and v.contact_id = d.contact_id and v.channel_id = d.channel_id
    where case when d.is_answered then v.status = 'open' and v.assignee_id is null else v.status = 'pending' end
    order by v.id for no key update of v`.execute(trx);
  return rows;
}

/** Writes the state of conversations that are locked. @returns them as they are now */
export async function writeStates(
  trx: Db,
  tenantId: number,
  states: readonly (TransitionState & { readonly id: number })[],
  nowIso: string,
): Promise<PublicConversation[]> {
  const { rows } = await sql<PublicConversation>`
    update conversations v set status = r.status, snoozed_until = r.snoozed_until, assignee_id = r.assignee_id, waiting_since = r.waiting_since,
      unread_count = r.unread_count, updated_at = ${nowIso}::timestamptz
    from jsonb_to_recordset(${JSON.stringify(states)}::jsonb) as r (id bigint, status text, snoozed_until timestamptz, assignee_id bigint,
      waiting_since timestamptz, unread_count integer)
    where v.tenant_id = ${tenantId} and v.id = r.id
    returning ${PUBLIC_CONVERSATION}`.execute(trx);
  return rows;
}

/** Conversations of any tenant whose time has come, by the database's clock, opened; those that others have locked are left for the next sweep. */
export async function wakeDue(
  trx: Db,
  limit: number,
): Promise<(PublicConversation & { readonly tenant_id: number; readonly snoozed_before: string })[]> {
  const { rows } = await sql<PublicConversation & { tenant_id: number; snoozed_before: string }>`
    /* cross-tenant: the sweep wakes conversations of all tenants, by time alone */
    with due as materialized (
      select tenant_id, id, snoozed_until from conversations
      where snoozed_until <= statement_timestamp() order by snoozed_until limit ${limit} for no key update skip locked
    )
    update conversations v set status = 'open', snoozed_until = null, updated_at = ${statementTime}
    from due where v.tenant_id = due.tenant_id and v.id = due.id
    returning ${PUBLIC_CONVERSATION}, v.tenant_id, due.snoozed_until as snoozed_before`.execute(trx);
  return rows;
}

/** Unassigns a staff member from conversations, at most `limit`. @returns them as they are now */
export async function unassignSome(
  trx: Db,
  tenantId: number,
  staffId: number,
  limit: number,
): Promise<PublicConversation[]> {
  const { rows } = await sql<PublicConversation>`
    update conversations v set assignee_id = null, updated_at = now()
    where v.tenant_id = ${tenantId} and v.id = any(array(
      select id from conversations where tenant_id = ${tenantId} and assignee_id = ${staffId} order by id limit ${limit} for no key update))
    returning ${PUBLIC_CONVERSATION}`.execute(trx);
  return rows;
}

/** Adds tags to conversations, and removes others. Tags that do not exist are ignored. The conversations are locked. */
export async function writeTags(
  trx: Db,
  tenantId: number,
  conversationIds: readonly number[],
  { added, removed }: { readonly added: readonly number[]; readonly removed: readonly number[] },
): Promise<void> {
  await sql`
    with removed as (
      delete from conversation_tags
      where tenant_id = ${tenantId} and conversation_id = any(${conversationIds}::bigint[]) and tag_id = any(${removed}::bigint[])
    )
    insert into conversation_tags (tenant_id, conversation_id, tag_id)
    select t.tenant_id, c.id, t.id
    from tags t cross join unnest(${conversationIds}::bigint[]) as c (id)
    where t.tenant_id = ${tenantId} and t.id = any(${added}::bigint[]) order by c.id, t.id
    on conflict do nothing`.execute(trx);
}
