import { type RawBuilder, sql } from 'kysely';
import type { Db } from '../../../database/database.ts';
import { clockTime } from '../../../database/expressions.ts';
import { presentIdentity } from '../../contacts/columns.ts';
import { BLOCKED_CODE, REASON, STATE } from '../recipients/recipient.ts';

/** A recipient whose turn it is, with what decides whether it gets the message. */
export interface Candidate {
  readonly contact_id: number;
  /** The contact that it is by now, after a merge; null: deleted. */
  readonly current_id: number | null;
  readonly phone: string | null;
  readonly time_zone: string | null;
  /** Business-scoped. */
  readonly user_id: string | null;
  /** Why it does not get the message. */
  readonly reason: number | null;
  /** Of its row in the list. */
  readonly values: Readonly<Record<string, string>> | null;
  readonly is_waiting: boolean;
  /** Whether another campaign is making a message for the contact, which counts for a frequency cap in a moment. */
  readonly is_claimed: boolean;
}

export interface CandidateQuery {
  readonly campaignId: number;
  /** Recipients after this contact; those that waited and are due come first. */
  readonly position: number;
  readonly limit: number;
  readonly listId: number | null;
  /** Of the template; null: none that people opt out of separately. */
  readonly category: string | null;
  readonly channelId: number;
  readonly cap: { readonly messages: number; readonly days: number } | null;
}

/**
 * Makes the transaction read recipients in index order. Statistics from before they were written claim an empty table, for which the
 * planner sorts: that reads all 300,000 remaining rows (550 ms) for the next 500 (0.2 ms).
 */
export async function useIndexOrder(trx: Db): Promise<void> {
  await sql`select set_config('enable_sort', 'off', true), set_config('enable_bitmapscan', 'off', true)`.execute(trx);
}

/**
 * Makes the transaction see the claims of the tenant's other campaigns. With a frequency cap nobody else chooses until it ends: two
 * campaigns that choose at the same moment would both find a person below the cap. Lock order: after the campaign.
 */
export async function lockChoice(trx: Db, tenantId: number, isCapped: boolean): Promise<void> {
  const lock = sql.raw(isCapped ? 'pg_advisory_xact_lock' : 'pg_advisory_xact_lock_shared');
  await sql`select ${lock}(hashtextextended('campaign_choice', ${tenantId}))`.execute(trx);
}

/**
 * The next recipients, in the order of their contacts. The campaign is locked. Reads a fixed number of index entries for each, and
 * the messages of the last days only with a frequency cap: by when they were written or, at most a year before, scheduled for. Messages
 * that are scheduled for later, that failed, or that a pause took back, count for none. Merges and identities are read by key
 * behind offset 0: by statistics of an empty table, a scan of all of the tenant's costs the same.
 */
export async function findCandidates(trx: Db, tenantId: number, query: CandidateQuery): Promise<Candidate[]> {
  const { campaignId, position, limit, listId, category, channelId, cap } = query;
  const since = sql`now() - ${cap?.days ?? 0}::integer * interval '1 day'`;
  const before = sql`m.id < uuid_at(${since}) and m.id >= uuid_at(${since} - interval '1 year')`;
  const messagesOf = (when: RawBuilder<unknown>) => sql`
            select from messages m join templates p on p.tenant_id = ${tenantId} and p.id = m.template_id and lower(p.category) = ${category}::text
            join message_states s on s.tenant_id = ${tenantId} and s.message_id = m.id and s.status not in ('failed', 'cancelled')
            where m.tenant_id = ${tenantId} and m.contact_id = c.id and m.direction = 'outbound' and ${when}
              and (m.scheduled_at is null or m.scheduled_at <= now())`;
  const { rows } = await sql<Candidate>`
    with turn as materialized (
      (select r.contact_id, true as is_waiting from campaign_recipients r
       where r.tenant_id = ${tenantId} and r.campaign_id = ${campaignId} and r.state = ${sql.lit(STATE.waiting)}
         and r.due_at <= now() and r.message_id is null order by r.due_at limit ${limit}::integer)
      union all
      (select r.contact_id, false from campaign_recipients r
       where r.tenant_id = ${tenantId} and r.campaign_id = ${campaignId} and r.contact_id > ${position}
         and r.state = ${sql.lit(STATE.pending)} order by r.contact_id limit ${limit}::integer)
      limit ${limit}::integer
    ), claimed as materialized (
      select s.contact_id from campaigns k
      join campaign_recipients s on s.tenant_id = ${tenantId} and s.campaign_id = k.id and s.state = ${sql.lit(STATE.waiting)}
        and s.message_id is not null
      where k.tenant_id = ${tenantId} and k.status = 'running' and k.id <> ${campaignId}
    )
    select t.contact_id, c.id as current_id, c.phone, c.time_zone,
      case when c.phone is null then ${presentIdentity(tenantId, 'user_id')} end as user_id, t.is_waiting, l.values,
      case when c.id is null then ${sql.lit(REASON.gone)}
        when c.opted_out_at is not null or exists (
          select from (
            select e.state, e.occurred_at, e.id from consent_entries e
            where e.tenant_id = ${tenantId} and e.contact_id = c.id and e.category = ${category}::text
            order by e.occurred_at desc, e.id desc limit 1) e
          where e.state = 'opted_out' and not exists (
            select from consent_entries a where a.tenant_id = ${tenantId} and a.contact_id = c.id and a.category = 'all'
              and a.state = 'opted_in' and (a.occurred_at, a.id) > (e.occurred_at, e.id))) then ${sql.lit(REASON.opted_out)}
        when c.phone is null and not exists (
          select from (
            select i.kind, i.portfolio, i.ended_at from contact_identities i
            where i.tenant_id = ${tenantId} and i.contact_id = c.id offset 0) i
          join channels ch on ch.tenant_id = ${tenantId} and ch.id = ${channelId}::bigint
          where i.kind = 'user_id' and i.ended_at is null
            and i.portfolio in (coalesce(ch.portfolio_id, 'waba:' || ch.waba_id), 'enterprise')) then ${sql.lit(REASON.no_number)}
        when exists (
          select from (
            select o.former_id, o.undone_at from contact_merges o where o.tenant_id = ${tenantId} and o.contact_id = c.id offset 0) o
          join campaign_recipients s on s.tenant_id = ${tenantId} and s.campaign_id = ${campaignId}
            and s.contact_id = o.former_id and s.contact_id <> t.contact_id and s.message_id is not null
          where o.undone_at is null)
          or (c.id <> t.contact_id and exists (
            select from campaign_recipients s where s.tenant_id = ${tenantId} and s.campaign_id = ${campaignId}
              and s.contact_id = c.id)) then ${sql.lit(REASON.duplicate)}
        when exists (
          select from message_failures f where f.tenant_id = ${tenantId} and f.code = ${sql.lit(BLOCKED_CODE)}
            and f.failed_at > now() - interval '30 days' and f.contact_id = c.id) then ${sql.lit(REASON.blocked)}
        when ${cap?.messages ?? null}::integer is not null and (
          select count(*) from (
            ${messagesOf(sql`m.id >= uuid_at(${since})`)} union all
            ${messagesOf(sql`${before} and m.scheduled_at is not null and m.scheduled_at >= ${since}`)}
            limit ${cap?.messages ?? null}::integer) n) >= ${cap?.messages ?? null}::integer then ${sql.lit(REASON.frequency_cap)}
      end::smallint as reason,
      ${cap !== null}::boolean and c.id in (select contact_id from claimed) as is_claimed
    from turn t
    left join lateral (
      select g.contact_id from contact_merges g
      where g.tenant_id = ${tenantId} and g.former_id = t.contact_id and g.undone_at is null offset 0) g on true
    left join contacts c on c.tenant_id = ${tenantId} and c.id = coalesce(g.contact_id, t.contact_id)
    left join lateral (
      select w.values from campaign_list_rows w
      where w.tenant_id = ${tenantId} and w.list_id = ${listId}::bigint and w.contact_id = c.id
      order by w.row_number limit 1) l on true
    order by t.is_waiting desc, t.contact_id`.execute(trx);
  return rows;
}

/** New state of a recipient. */
export interface RecipientChange {
  readonly contactId: number;
  readonly state: number;
  readonly reason?: number | null;
  readonly dueAt?: string | null;
  readonly messageId?: string | null;
}

/** Writes the states of recipients that were sent nothing: skipped or postponed. */
export async function writeRecipients(
  trx: Db,
  tenantId: number,
  campaignId: number,
  changes: readonly RecipientChange[],
): Promise<void> {
  if (changes.length === 0) return;
  const contactIds = changes.map(one => one.contactId);
  // By key whatever the planner believes of the table: `any` restricts the scan also where it would be joined the other way round.
  await sql`
    update campaign_recipients r set state = u.state, reason = u.reason, due_at = u.due_at, message_id = u.message_id
    from unnest(${contactIds}::bigint[], ${changes.map(one => one.state)}::smallint[],
      ${changes.map(one => one.reason ?? null)}::smallint[], ${changes.map(one => one.dueAt ?? null)}::timestamptz[],
      ${changes.map(one => one.messageId ?? null)}::uuid[]) as u (contact_id, state, reason, due_at, message_id)
    where r.tenant_id = ${tenantId} and r.campaign_id = ${campaignId} and r.contact_id = u.contact_id and r.contact_id = any(${contactIds}::bigint[])
      and r.state < ${sql.lit(STATE.sent)}`.execute(trx);
}

/** A recipient whose message may be accepted already: the process may have died meanwhile. */
export interface Unconfirmed {
  readonly message_id: string;
  readonly is_accepted: boolean;
}

export async function findUnconfirmed(
  db: Db,
  tenantId: number,
  campaignId: number,
  limit: number,
): Promise<Unconfirmed[]> {
  const { rows } = await sql<Unconfirmed>`
    select r.message_id,
      exists (select from messages m where m.tenant_id = ${tenantId} and m.id = r.message_id) as is_accepted
    from campaign_recipients r
    where r.tenant_id = ${tenantId} and r.campaign_id = ${campaignId} and r.state = ${sql.lit(STATE.waiting)} and r.message_id is not null
    order by r.contact_id limit ${limit}::integer`.execute(db);
  return rows;
}

/**
 * Marks recipients whose messages were accepted, apart from those of which more is known already, and those whose message is deleted with
 * its contact: `findUnconfirmed` finds these. The lock makes a deletion wait, so that its event, which ends what is queued, comes after this.
 */
export async function confirmRecipients(db: Db, tenantId: number, messageIds: readonly string[]): Promise<void> {
  await sql`
    with present as materialized (
      select m.id from messages m where m.tenant_id = ${tenantId} and m.id = any(${messageIds}::uuid[]) for key share skip locked
    )
    update campaign_recipients r set state = ${sql.lit(STATE.queued)}, due_at = null
    where r.tenant_id = ${tenantId} and r.message_id = any(array(select id from present)) and r.state = ${sql.lit(STATE.waiting)}`.execute(
    db,
  );
}

/**
 * Updates recipients whose message was refused, or never made: skipped for a reason, or due again under another id. Those that a
 * cancellation has requeued meanwhile stay.
 * @returns how many are skipped, and due again
 */
export async function writeByMessage(
  trx: Db,
  tenantId: number,
  campaignId: number,
  changes: readonly { readonly messageId: string; readonly reason: number | null }[],
): Promise<{ readonly skipped: number; readonly pending: number }> {
  const messageIds = changes.map(one => one.messageId);
  const { rows } = await sql<{ skipped: number; pending: number }>`
    with written as (
      update campaign_recipients r set reason = u.reason, message_id = null,
        state = case when u.reason is null then ${sql.lit(STATE.waiting)} else ${sql.lit(STATE.skipped)} end,
        due_at = case when u.reason is null then clock_timestamp() end
      from unnest(${messageIds}::uuid[], ${changes.map(one => one.reason)}::smallint[]) as u (message_id, reason)
      where r.tenant_id = ${tenantId} and r.campaign_id = ${campaignId} and r.message_id = u.message_id and r.message_id = any(${messageIds}::uuid[])
        and r.state = ${sql.lit(STATE.waiting)} returning r.state
    )
    select count(*) filter (where state = ${sql.lit(STATE.skipped)})::int as skipped,
      count(*) filter (where state = ${sql.lit(STATE.waiting)})::int as pending from written`.execute(trx);
  return rows[0] ?? { skipped: 0, pending: 0 };
}

/** Requeues recipients whose messages were withdrawn before they were sent. @returns how many */
export async function requeueWithdrawn(
  trx: Db,
  tenantId: number,
  campaignId: number,
  messageIds: readonly string[],
): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    with requeued as (
      update campaign_recipients r set state = ${sql.lit(STATE.waiting)}, due_at = ${clockTime}, message_id = null
      where r.tenant_id = ${tenantId} and r.campaign_id = ${campaignId} and r.message_id = any(${messageIds}::uuid[])
        and (r.state < ${sql.lit(STATE.sent)} or r.state = ${sql.lit(STATE.cancelled)}) returning 1
    ) select count(*)::int as count from requeued`.execute(trx);
  return rows[0]?.count ?? 0;
}

/** When the next recipient is due that waits; null: none does. */
export async function nextDueAt(db: Db, tenantId: number, campaignId: number): Promise<string | null> {
  const { rows } = await sql<{ due_at: string | null }>`
    select r.due_at from campaign_recipients r
    where r.tenant_id = ${tenantId} and r.campaign_id = ${campaignId} and r.state = ${sql.lit(STATE.waiting)}
    order by r.due_at limit 1`.execute(db);
  return rows[0]?.due_at ?? null;
}
