import { sql } from 'kysely';
import type { Db } from '../../../database/database.ts';
import { crossTenant } from '../../../database/expressions.ts';
import { type Backlog, inAccount } from '../../../lanes/store/backlog.sql.ts';
import type { BotRefusal, BotRow, Rule } from '../bot.ts';

/** A reply that was decided on and is to be sent. */
export interface PendingReply {
  /** The message that is answered. */
  readonly message_id: string;
  readonly bot_id: number;
  /** The id that the reply's message will have. */
  readonly reply_message_id: string;
  readonly contact_id: number;
  readonly channel_id: number;
  readonly rule: Rule;
  /** The bot as it was when the reply was decided on. */
  readonly bot: BotRow;
  /** Number of attempts, including the current one. */
  readonly attempts: number;
  /** Time until the reply expires; 0 or less: expired. */
  readonly wanted_for_ms: number;
  /** The network's id of the message that is answered. */
  readonly wamid: string | null;
  /** Whether the bot still exists and is enabled. */
  readonly is_enabled: boolean;
}

/** Stores replies before they are sent, claimed for `leaseMs`. Times are the database's clock. */
export async function insertReplies(
  trx: Db,
  tenantId: number,
  replies: readonly PendingReply[],
  leaseMs: number,
): Promise<void> {
  await sql`
    insert into bot_replies (tenant_id, message_id, bot_id, reply_message_id, contact_id, channel_id, rule, bot, state, attempts,
                             next_attempt_at, give_up_at, created_at)
    select ${tenantId}::bigint, r.message_id, r.bot_id, r.reply_message_id, r.contact_id, r.channel_id, r.rule, r.bot, 'sending', r.attempts,
           n.now + ${leaseMs}::float8 * interval '1 ms', n.now + r.wanted_for_ms * interval '1 ms', n.now
    from (select clock_timestamp() as now) n, jsonb_to_recordset(${JSON.stringify(replies)}::jsonb) as r (message_id uuid, bot_id bigint, reply_message_id uuid,
      contact_id bigint, channel_id bigint, rule jsonb, bot jsonb, attempts int, wanted_for_ms float8)`.execute(trx);
}

/** Claims due replies: those whose sender died, and those to be retried. */
export async function claimReplies(db: Db, tenantId: number, limit: number, leaseMs: number): Promise<PendingReply[]> {
  const { rows } = await sql<PendingReply>`
    with due as materialized (
      select message_id, bot_id from bot_replies
      where tenant_id = ${tenantId} and state = 'sending' and next_attempt_at <= clock_timestamp()
      order by next_attempt_at limit ${limit} for update skip locked
    ), claimed as (
      update bot_replies r set attempts = r.attempts + 1, next_attempt_at = clock_timestamp() + ${leaseMs}::float8 * interval '1 ms' from due
      where r.tenant_id = ${tenantId} and r.message_id = due.message_id and r.bot_id = due.bot_id
      returning r.*
    )
    select r.message_id, r.bot_id, r.reply_message_id, r.contact_id, r.channel_id, r.rule, r.bot, r.attempts, s.wamid,
           extract(epoch from r.give_up_at - clock_timestamp())::float8 * 1000 as wanted_for_ms,
           coalesce(b.is_enabled, false) as is_enabled
    from claimed r
    left join message_states s on s.tenant_id = ${tenantId} and s.message_id = r.message_id
    left join bots b on b.tenant_id = ${tenantId} and b.id = r.bot_id
    order by r.reply_message_id`.execute(db);
  return rows;
}

/** Why a reply was not sent. */
export interface Refusal {
  readonly code: string;
  readonly message: string;
}

/** The result of an attempt: sent, refused permanently, or to be retried. */
export interface Outcome {
  readonly reply: PendingReply;
  readonly refusal?: Refusal;
  /** Back-off before the next attempt. */
  readonly retryInMs?: number;
}

export interface SettledReply {
  readonly message_id: string;
  readonly bot_id: number;
  readonly state: string;
}

/** Records the results of attempts. @returns the replies that this call settled; not those that another process had settled */
export async function settleReplies(
  trx: Db,
  tenantId: number,
  outcomes: readonly Outcome[],
): Promise<readonly SettledReply[]> {
  const results = outcomes.map(({ reply, refusal, retryInMs }) => ({
    message_id: reply.message_id,
    bot_id: reply.bot_id,
    refusal: refusal ?? null,
    again_ms: retryInMs ?? null,
  }));
  const { rows } = await sql<SettledReply>`
    with o as materialized (
      select w.*, r.bot_id as found from jsonb_to_recordset(${JSON.stringify(results)}::jsonb)
        as w (message_id uuid, bot_id bigint, refusal jsonb, again_ms float8)
      join bot_replies r on r.tenant_id = ${tenantId} and r.message_id = w.message_id and r.bot_id = w.bot_id
      order by r.message_id, r.bot_id for update of r
    )
    update bot_replies r set
      state = case when o.again_ms is not null then 'sending' when o.refusal is not null then 'refused' else 'sent' end,
      refusal = o.refusal, next_attempt_at = clock_timestamp() + o.again_ms * interval '1 ms',
      bot = case when o.again_ms is not null then r.bot end,
      settled_at = case when o.again_ms is null then clock_timestamp() end
    from o where r.tenant_id = ${tenantId} and r.message_id = o.message_id and r.bot_id = o.bot_id and r.state = 'sending'
    returning r.message_id, r.bot_id, r.state`.execute(trx);
  return rows.filter(row => row.state !== 'sending');
}

/** The results of a bot's replies. */
export interface BotOutcome {
  readonly id: number;
  /** Number of replies sent. */
  readonly count: number;
  readonly refusal: BotRefusal | null;
}

/** Records the results of replies with their bots. @param outcomes at most one for each bot */
export async function writeOutcomes(
  trx: Db,
  tenantId: number,
  outcomes: readonly BotOutcome[],
  atIso: string,
): Promise<void> {
  await sql`
    with o as materialized (
      select o.* from jsonb_to_recordset(${JSON.stringify(outcomes)}::jsonb) as o (id bigint, count int, refusal jsonb)
      join bots b on b.tenant_id = ${tenantId} and b.id = o.id order by b.id for update of b
    )
    update bots b set replies_count = b.replies_count + o.count, last_refusal = coalesce(o.refusal, b.last_refusal),
      last_replied_at = case when o.count > 0 then greatest(b.last_replied_at, ${atIso}::timestamptz) else b.last_replied_at end
    from o where b.tenant_id = ${tenantId} and b.id = o.id`.execute(trx);
}

/**
 * Tenants whose bots have messages to decide on or replies to send. Steps from tenant to tenant through the indexes (a loose index
 * scan); see `Queue.dueLanes`.
 */
export const dueBotLanes = sql`
  with recursive waiting as (
    (select tenant_id from bot_inbox order by tenant_id limit 1)
    union all
    select (select i.tenant_id from bot_inbox i where i.tenant_id > w.tenant_id order by i.tenant_id limit 1)
    from waiting w where w.tenant_id is not null
  ), sending as (
    (select tenant_id, next_attempt_at from bot_replies where state = 'sending' order by tenant_id, next_attempt_at limit 1)
    union all
    select n.* from sending s cross join lateral (
      select r.tenant_id, r.next_attempt_at from bot_replies r
      where r.state = 'sending' and r.tenant_id > s.tenant_id order by r.tenant_id, r.next_attempt_at limit 1) n
  )
  select tenant_id, tenant_id::text as key from (
    select tenant_id from waiting where tenant_id is not null
    union select tenant_id from sending where next_attempt_at <= clock_timestamp()
  ) either`;

/** The backlog of each lane; see `listLanes`. */
export const botBacklog: Backlog = tenantId => sql`
  select tenant_id, tenant_id::text as key, count(*) as count, min(oldest_at) as oldest_at from (
    select i.tenant_id, m.created_at as oldest_at from bot_inbox i
    left join messages m on m.tenant_id = i.tenant_id and m.id = i.message_id
    where ${inAccount(tenantId, 'i.tenant_id')}
    union all
    select tenant_id, created_at from bot_replies where ${inAccount(tenantId)} and state = 'sending'
  ) waiting group by tenant_id`;

/** Deletes settled replies from before an instant, at most `limit`, oldest first. @returns how many */
export async function deleteSettled(db: Db, beforeIso: string, limit: number): Promise<number> {
  const { numDeletedRows } = await db
    .deleteFrom('bot_replies as r')
    .using(query =>
      query
        .selectFrom('bot_replies')
        .select(['tenant_id', 'message_id', 'bot_id'])
        .where('created_at', '<', beforeIso)
        .where('state', '<>', sql.lit('sending'))
        .orderBy('created_at')
        .limit(limit)
        .as('old'),
    )
    .whereRef('r.tenant_id', '=', 'old.tenant_id')
    .whereRef('r.message_id', '=', 'old.message_id')
    .whereRef('r.bot_id', '=', 'old.bot_id')
    .modifyEnd(crossTenant('housekeeping, by age alone'))
    .executeTakeFirstOrThrow();
  return Number(numDeletedRows);
}
