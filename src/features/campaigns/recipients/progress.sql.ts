import { type RawBuilder, sql } from 'kysely';
import type { Db } from '../../../database/database.ts';
import { anyTenantHas } from '../../../database/expressions.ts';
import { isInRange, type LogRange } from '../../../events/log.sql.ts';
import { STATE } from './recipient.ts';

/**
 * The statements that count what became of the messages of campaigns, from ranges of the event log. Only the reader runs them, so that
 * no two transactions write a row of campaign_progress. Events of tenants without recent campaigns cost nothing.
 */

/** Statuses come for up to this long after the last message of a campaign. */
const RECENT = sql`interval '35 days'`;
/** Answers, taps and opt-outs within this time after the message belong to it. */
const ATTRIBUTED = sql`interval '72 hours'`;

const recentTenants = sql`(select k.tenant_id from campaigns k where k.last_message_at > now() - ${RECENT})`;

const state = (name: keyof typeof STATE): RawBuilder<unknown> => sql.lit(STATE[name]);

/**
 * Whether any campaign sent a message in the last 35 days: if not, no event counts. The time is committed before a campaign's messages are
 * accepted, so that no event comes before it.
 */
export const hasRecentCampaigns = (trx: Db): Promise<boolean> =>
  anyTenantHas(trx.selectFrom('campaigns').select('id').where('last_message_at', '>', sql<string>`now() - ${RECENT}`));

export interface CountedCampaign {
  readonly tenant_id: number;
  readonly campaign_id: number;
}

/**
 * Moves recipients forward by the statuses of their messages, and counts each step once: a repeated event has no effect. The network
 * accepted what has its id: where its failure is known before its acceptance is written, there is no message.sent.
 * @param stopCodes codes of the network after which a campaign stops
 */
export async function countStatuses(
  trx: Db,
  range: LogRange,
  stopCodes: readonly number[],
): Promise<CountedCampaign[]> {
  const { rows } = await sql<CountedCampaign>`
    /* cross-tenant: the log is read for all tenants at once; each row keeps its own */
    with hits as materialized (
      select e.tenant_id, r.campaign_id, r.contact_id, r.state as before,
        max(case e.type when 'message.sent' then ${state('sent')} when 'message.delivered' then ${state('delivered')}
          when 'message.read' then ${state('read')} when 'message.failed' then ${state('failed')} else ${state('cancelled')} end)::smallint as after,
        bool_or(e.type = 'message.sent' or e.payload #>> '{message,message_id}' is not null) as was_sent,
        max(case when e.type = 'message.failed' then (e.payload #>> '{message,status_message,code}')::integer end) as code
      from events e
      join campaign_recipients r on r.tenant_id = e.tenant_id and r.message_id = (e.payload #>> '{message,id}')::uuid
      where ${isInRange(range)} and e.type = any('{message.sent,message.delivered,message.read,message.failed,message.cancelled}')
        and e.tenant_id in ${recentTenants}
      group by e.tenant_id, r.campaign_id, r.contact_id, r.state
    ), moved as (
      update campaign_recipients r set state = h.after, error_code = h.code, due_at = null
      from hits h
      where r.tenant_id = h.tenant_id and r.campaign_id = h.campaign_id and r.contact_id = h.contact_id and h.after > h.before
      returning r.tenant_id, r.campaign_id, h.before, h.after, h.was_sent, h.code
    ), failures as (
      insert into campaign_failures as f (tenant_id, campaign_id, code, count)
      select tenant_id, campaign_id, coalesce(code, 0), count(*) from moved where after = ${state('failed')} group by 1, 2, 3
      order by 1, 2, 3
      on conflict (tenant_id, campaign_id, code) do update set count = f.count + excluded.count
    )
    insert into campaign_progress as p (tenant_id, campaign_id, sent, delivered, read, failed, cancelled, stop_code)
    select tenant_id, campaign_id,
      count(*) filter (where before not between ${state('sent')} and ${state('read')} and (after between ${state('sent')} and ${state('read')} or was_sent)),
      count(*) filter (where before not between ${state('delivered')} and ${state('read')} and after between ${state('delivered')} and ${state('read')}),
      count(*) filter (where after = ${state('read')}), count(*) filter (where after = ${state('failed')}),
      count(*) filter (where after = ${state('cancelled')}), max(code) filter (where code = any(${stopCodes}::integer[]))
    from moved group by tenant_id, campaign_id order by tenant_id, campaign_id
    on conflict (tenant_id, campaign_id) do update set sent = p.sent + excluded.sent, delivered = p.delivered + excluded.delivered,
      read = p.read + excluded.read, failed = p.failed + excluded.failed, cancelled = p.cancelled + excluded.cancelled,
      stop_code = coalesce(excluded.stop_code, p.stop_code)
    returning p.tenant_id, p.campaign_id`.execute(trx);
  return rows;
}

/**
 * Ends recipients whose contact was deleted while their message waited: it was deleted too, and nothing more is told of it. The network
 * has those that were sent: they are only counted as messages without an outcome, which the first wave would wait for. Recipients keep the
 * ids of contacts that were merged into the deleted one, and only the log still knows those: it is read by the deleted contact, as by
 * statistics from before, the index of all merges costs the same. Recipients and messages are read by their keys.
 */
export async function countDeleted(trx: Db, range: LogRange): Promise<CountedCampaign[]> {
  const { rows } = await sql<CountedCampaign>`
    /* cross-tenant: the log is read for all tenants at once; each row keeps its own */
    with deleted as materialized (
      select e.tenant_id, (e.payload #>> '{contact,id}')::bigint as id from events e
      where ${isInRange(range)} and e.type = 'contact.deleted' and e.tenant_id in ${recentTenants}
    ), people as materialized (
      select d.tenant_id, d.id from deleted d
      union
      select d.tenant_id, (g.payload ->> 'former_id')::bigint from deleted d
      cross join lateral (
        select m.payload, m.type from events m where m.tenant_id = d.tenant_id and m.contact_id = d.id offset 0) g
      where g.type = 'contact.merged'
    ), hits as materialized (
      select p.tenant_id, r.campaign_id, r.contact_id, r.state
      from people p
      join campaigns k on k.tenant_id = p.tenant_id and k.last_message_at > now() - ${RECENT}
      cross join lateral (
        select r.campaign_id, r.contact_id, r.message_id, r.state from campaign_recipients r
        where r.tenant_id = k.tenant_id and r.campaign_id = k.id and r.contact_id = p.id
          and r.state in (${state('queued')}, ${state('sent')}) offset 0) r
      -- It is there where the merge was undone before.
      where not exists (select from messages m where m.tenant_id = p.tenant_id and m.id = r.message_id offset 0)
    ), moved as (
      update campaign_recipients r set state = ${state('cancelled')}, due_at = null from hits h
      where r.tenant_id = h.tenant_id and r.campaign_id = h.campaign_id and r.contact_id = h.contact_id and r.state = ${state('queued')}
      returning r.tenant_id, r.campaign_id
    )
    insert into campaign_progress as p (tenant_id, campaign_id, cancelled)
    select tenant_id, campaign_id, count(*) from (
      select tenant_id, campaign_id from moved
      union all
      select tenant_id, campaign_id from hits where state = ${state('sent')}) ended
    group by 1, 2 order by 1, 2
    on conflict (tenant_id, campaign_id) do update set cancelled = p.cancelled + excluded.cancelled
    returning p.tenant_id, p.campaign_id`.execute(trx);
  return rows;
}

/**
 * The latest campaign message that a person got in the 72 hours before an event `e`, and that may be its cause. A merge leaves recipients their
 * former ids. Recipients are read by their key in each campaign: the latest messages in their order are those of the whole tenant, which
 * took 24 to 40 ms an event behind 500,000, and for a list of ids PostgreSQL 15 reads all of a campaign. Merges are read by contact: the
 * index of former ids would be read as a whole.
 */
const latestOf = (at: RawBuilder<unknown>, isCaused: RawBuilder<unknown>) => sql`
  select r.campaign_id, r.contact_id
  from (
    select e.contact_id as id
    union all
    select o.former_id from (
      select o.former_id, o.undone_at from contact_merges o where o.tenant_id = e.tenant_id and o.contact_id = e.contact_id offset 0) o
    where o.undone_at is null) p
  cross join campaigns k
  cross join lateral (
    select r.campaign_id, r.contact_id, r.message_id, r.state from campaign_recipients r
    where r.tenant_id = k.tenant_id and r.campaign_id = k.id and r.contact_id = p.id offset 0) r
  where k.tenant_id = e.tenant_id and k.last_message_at > ${at} - ${ATTRIBUTED} and ${isCaused}
    and r.state between ${state('sent')} and ${state('read')} and r.message_id >= uuid_at(${at} - ${ATTRIBUTED})
  order by r.message_id desc limit 1`;

/**
 * When a person wrote a message, at the end of the network's second (`writtenMs`): the network delivers what could not be delivered for days,
 * and an answer of before a campaign is none to it.
 */
const writtenAt = sql`least(e.occurred_at, (e.payload #>> '{message,sent_at}')::timestamptz + interval '999 milliseconds')`;
/** On the event's channel, and not after the answer. A minute for clocks that differ. */
const isAnswered = sql`k.channel_id = (e.payload #>> '{message,channel_id}')::bigint
    and r.message_id < uuid_at(${writtenAt} + interval '1 minute')`;

/**
 * Attributes inbound messages to campaigns: what quotes a message of the business (a tap on a button does) belongs to that one, whether
 * it is of a campaign or not; anything else to the latest message of a campaign on the same channel. A recipient counts once.
 */
export async function countReplies(trx: Db, range: LogRange): Promise<CountedCampaign[]> {
  const { rows } = await sql<CountedCampaign>`
    /* cross-tenant: the log is read for all tenants at once; each row keeps its own */
    with hits as materialized (
      select e.tenant_id, coalesce(q.campaign_id, l.campaign_id) as campaign_id, coalesce(q.contact_id, l.contact_id) as contact_id,
        min(${writtenAt}) as at
      from events e
      left join lateral (
        select m.id, r.campaign_id, r.contact_id from message_wamids w
        join messages m on m.tenant_id = w.tenant_id and m.id = w.message_id and m.direction = 'outbound'
        left join campaign_recipients r on r.tenant_id = w.tenant_id and r.message_id = w.message_id
          and r.message_id >= uuid_at(${writtenAt} - ${ATTRIBUTED})
        where w.tenant_id = e.tenant_id and w.channel_id = (e.payload #>> '{message,channel_id}')::bigint
          and w.wamid = e.payload #>> '{message,ref_message_id}' limit 1) q on true
      left join lateral (${latestOf(writtenAt, isAnswered)}) l on q.id is null
      where ${isInRange(range)} and e.type = 'message.received' and e.contact_id is not null and e.tenant_id in ${recentTenants}
        and coalesce(q.campaign_id, l.campaign_id) is not null
      group by 1, 2, 3
    ), moved as (
      update campaign_recipients r set replied_at = h.at from hits h
      where r.tenant_id = h.tenant_id and r.campaign_id = h.campaign_id and r.contact_id = h.contact_id and r.replied_at is null
      returning r.tenant_id, r.campaign_id
    )
    insert into campaign_progress as p (tenant_id, campaign_id, replied)
    select tenant_id, campaign_id, count(*) from moved group by 1, 2 order by 1, 2
    on conflict (tenant_id, campaign_id) do update set replied = p.replied + excluded.replied
    returning p.tenant_id, p.campaign_id`.execute(trx);
  return rows;
}

/** When a person opted out: an import has opt-outs of long ago, which no message of today has caused. A minute for clocks that differ. */
const optedOutAt = sql`least(e.occurred_at,
  coalesce(e.payload #>> '{consent,occurred_at}', e.payload #>> '{contact,opted_out_at}')::timestamptz)`;

/** Attributes opt-outs, of all messages or of one category, to the latest message of a campaign. A recipient counts once. */
export async function countOptOuts(trx: Db, range: LogRange): Promise<CountedCampaign[]> {
  const { rows } = await sql<CountedCampaign>`
    /* cross-tenant: the log is read for all tenants at once; each row keeps its own */
    with hits as materialized (
      select distinct e.tenant_id, l.campaign_id, l.contact_id
      from events e
      cross join lateral (${latestOf(optedOutAt, sql`r.message_id < uuid_at(${optedOutAt} + interval '1 minute')`)}) l
      where ${isInRange(range)} and e.contact_id is not null and e.tenant_id in ${recentTenants}
        and (e.type = 'contact.opted_out' or (e.type = 'consent.changed' and e.payload #>> '{consent,state}' = 'opted_out'))
    ), moved as (
      update campaign_recipients r set opted_out = true from hits h
      where r.tenant_id = h.tenant_id and r.campaign_id = h.campaign_id and r.contact_id = h.contact_id and r.opted_out is null
      returning r.tenant_id, r.campaign_id
    )
    insert into campaign_progress as p (tenant_id, campaign_id, opted_out)
    select tenant_id, campaign_id, count(*) from moved group by 1, 2 order by 1, 2
    on conflict (tenant_id, campaign_id) do update set opted_out = p.opted_out + excluded.opted_out
    returning p.tenant_id, p.campaign_id`.execute(trx);
  return rows;
}
