import { sql } from 'kysely';
import type { Db } from '../../platform/database.ts';
import type { BotRow, Rule } from './bot.ts';

declare module '../../platform/database.ts' {
  interface Tables {
    bot_replies: { tenant_id: number; message_id: string; bot_id: number };
  }
}

/** An answer that was decided on, and is to be sent. */
export interface PendingReply {
  /** The message that is answered. */
  readonly message_id: string;
  readonly bot_id: number;
  /** The id that the answer's message will have. */
  readonly reply_message_id: string;
  readonly contact_id: number;
  readonly channel_id: number;
  readonly rule: Rule;
  /** The bot as it was then. */
  readonly bot: BotRow;
  /** Including the one that is under way. */
  readonly attempts: number;
  /** ISO 8601. After it nobody wants the answer any more. */
  readonly give_up_at: string;
  /** The network's id of the message that is answered. */
  readonly wamid: string | null;
  /** Whether the bot is still there and enabled. */
  readonly is_enabled: boolean;
}

/** Notes answers before they are sent, as if somebody had just claimed them. */
export async function insertReplies(
  trx: Db,
  tenantId: number,
  replies: readonly PendingReply[],
  nowIso: string,
  leaseIso: string,
): Promise<void> {
  await sql`
    insert into bot_replies (tenant_id, message_id, bot_id, reply_message_id, contact_id, channel_id, rule, bot, state, attempts,
                             next_attempt_at, give_up_at, created_at)
    select ${tenantId}::bigint, r.message_id, r.bot_id, r.reply_message_id, r.contact_id, r.channel_id, r.rule, r.bot, 'sending', r.attempts,
           ${leaseIso}::timestamptz, r.give_up_at, ${nowIso}::timestamptz
    from jsonb_to_recordset(${JSON.stringify(replies)}::jsonb) as r (message_id uuid, bot_id bigint, reply_message_id uuid,
      contact_id bigint, channel_id bigint, rule jsonb, bot jsonb, attempts int, give_up_at timestamptz)`.execute(trx);
}

/** Takes answers that are due: those whose sender died, and those that are to be tried again. */
export async function claimReplies(
  db: Db,
  tenantId: number,
  limit: number,
  nowIso: string,
  leaseIso: string,
): Promise<PendingReply[]> {
  const { rows } = await sql<PendingReply>`
    with due as materialized (
      select message_id, bot_id from bot_replies
      where tenant_id = ${tenantId} and state = 'sending' and next_attempt_at <= ${nowIso}::timestamptz
      order by next_attempt_at limit ${limit} for update skip locked
    ), claimed as (
      update bot_replies r set attempts = r.attempts + 1, next_attempt_at = ${leaseIso}::timestamptz from due
      where r.tenant_id = ${tenantId} and r.message_id = due.message_id and r.bot_id = due.bot_id
      returning r.*
    )
    select r.message_id, r.bot_id, r.reply_message_id, r.contact_id, r.channel_id, r.rule, r.bot, r.attempts, r.give_up_at, m.wamid,
           coalesce(b.is_enabled, false) as is_enabled
    from claimed r
    left join messages m on m.tenant_id = ${tenantId} and m.id = r.message_id
    left join bots b on b.tenant_id = ${tenantId} and b.id = r.bot_id
    order by r.reply_message_id`.execute(db);
  return rows;
}

/** Why an answer was not sent. */
export interface Refusal {
  readonly code: string;
  readonly message: string;
}

/** What came of an attempt: sent, refused for good, or to be tried again. */
export interface Outcome {
  readonly reply: PendingReply;
  readonly refusal?: Refusal;
  /** ISO 8601. */
  readonly again?: string;
}

/** Writes what came of attempts. @returns the keys of those that are settled by this, and were not before */
export async function settleReplies(
  trx: Db,
  tenantId: number,
  outcomes: readonly Outcome[],
  nowIso: string,
): Promise<{ message_id: string; bot_id: number }[]> {
  const written = outcomes.map(({ reply, refusal, again }) => ({
    message_id: reply.message_id,
    bot_id: reply.bot_id,
    refusal: refusal ?? null,
    again: again ?? null,
  }));
  const { rows } = await sql<{ message_id: string; bot_id: number; state: string }>`
    with o as materialized (
      select w.*, r.bot_id as found from jsonb_to_recordset(${JSON.stringify(written)}::jsonb)
        as w (message_id uuid, bot_id bigint, refusal jsonb, again timestamptz)
      join bot_replies r on r.tenant_id = ${tenantId} and r.message_id = w.message_id and r.bot_id = w.bot_id
      order by r.message_id, r.bot_id for update of r
    )
    update bot_replies r set
      state = case when o.again is not null then 'sending' when o.refusal is not null then 'refused' else 'sent' end,
      refusal = o.refusal, next_attempt_at = o.again,
      bot = case when o.again is not null then r.bot end,
      settled_at = case when o.again is null then ${nowIso}::timestamptz end
    from o where r.tenant_id = ${tenantId} and r.message_id = o.message_id and r.bot_id = o.bot_id and r.state = 'sending'
    returning r.message_id, r.bot_id, r.state`.execute(trx);
  return rows.filter(row => row.state !== 'sending');
}

/** Ends answers that are due where the tenant may have no bots any more. */
export async function refuseAll(db: Db, tenantId: number, refusal: Refusal, nowIso: string): Promise<void> {
  await sql`
    update bot_replies set state = 'refused', refusal = ${JSON.stringify(refusal)}::jsonb, bot = null, next_attempt_at = null,
      settled_at = ${nowIso}::timestamptz
    where tenant_id = ${tenantId} and state = 'sending' and next_attempt_at <= ${nowIso}::timestamptz`.execute(db);
}

/** Tenants for whose bots there is something to do: the sweep that finds lost wake-ups, and what is to be tried again. */
export async function tenantsWithWork(db: Db, nowIso: string): Promise<number[]> {
  const { rows } = await sql<{ tenant_id: number }>`
    /* cross-tenant: the sweep wakes lanes, it reads no message */
    select tenant_id from bot_inbox
    union
    select tenant_id from bot_replies where state = 'sending' and next_attempt_at <= ${nowIso}::timestamptz`.execute(
    db,
  );
  return rows.map(row => row.tenant_id);
}

/** Forgets answers that no cool-down looks at any more. @returns how many */
export async function deleteSettled(db: Db, beforeIso: string, limit: number): Promise<number> {
  const { numAffectedRows } = await sql`
    /* cross-tenant: housekeeping, by age alone */
    delete from bot_replies r using (
      select tenant_id, message_id, bot_id from bot_replies
      where created_at < ${beforeIso}::timestamptz and state <> 'sending' order by created_at limit ${limit}
    ) old
    where r.tenant_id = old.tenant_id and r.message_id = old.message_id and r.bot_id = old.bot_id`.execute(db);
  return Number(numAffectedRows ?? 0);
}
