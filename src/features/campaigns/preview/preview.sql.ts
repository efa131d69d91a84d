import { sql } from 'kysely';
import type { Db } from '../../../database/database.ts';
import { Parameters } from '../../../database/list-sql.ts';
import { raw } from '../../../database/statements.ts';
import { SHARED_CODES } from '../../../platform/phone-country.ts';
import type { Members } from '../audience/members.sql.ts';
import { BLOCKED_CODE, REASON } from '../recipients/recipient.ts';

/** People of an audience with one fate, one time zone of their own or none, and the same first digits or user id's country. */
export interface CountedPeople {
  /** Why they do not get the message; null: they do. */
  readonly reason: number | null;
  readonly count: number;
  /** One of their numbers; null: they have none. */
  readonly phone: string | null;
  /** The start of the user ids of those without a number, which names their country. */
  readonly user_id: string | null;
  readonly time_zone: string | null;
  /** Up to three of them. */
  readonly contact_ids: readonly number[];
}

export interface PreviewQuery {
  /** Of the template; null: none that people opt out of separately. */
  readonly category: string | null;
  readonly channelId: number | null;
  readonly cap: { readonly messages: number; readonly days: number } | null;
}

/**
 * The first characters of a number, which tell its country. More of each would make a group of every second person: the eighth digit only
 * where it tells islands apart (Réunion and Mayotte, the Antilles, Christmas Island).
 */
const COUNTRY_PART = `left(a.phone, case when a.phone ~ '^\\+(262|590|618)' then 9
  when a.phone ~ '^\\+(${SHARED_CODES.join('|')})' then 8 else 6 end)`;

/**
 * Counts an audience by what becomes of each person, in one pass: a million contacts take seconds, and a few hundred rows come back.
 * The rules are those of `findCandidates`, by the set instead of by person.
 */
export async function countPeople(
  db: Db,
  members: Members,
  { category, channelId, cap }: PreviewQuery,
): Promise<CountedPeople[]> {
  const parameters = new Parameters(members.values);
  const [word, channel] = [parameters.add(category, 'text'), parameters.add(channelId, 'bigint')];
  const [messages, days] = [
    parameters.add(cap?.messages ?? null, 'integer'),
    parameters.add(cap?.days ?? 0, 'integer'),
  ];
  const since = `now() - ${days} * interval '1 day'`;
  const messagesWhere = (when: string): string =>
    `select id, contact_id, template_id from messages where tenant_id = $1 and direction = 'outbound' and ${messages} is not null and ${when}
      and (scheduled_at is null or scheduled_at <= now())`;
  const text = `
    with audience as materialized (
      select c.id, c.phone, c.time_zone, case when c.phone is null then (
          select left(i.value, 3) from contact_identities i
          where i.tenant_id = c.tenant_id and i.contact_id = c.id and i.kind = 'user_id' and i.ended_at is null and i.value not like '%.ENT.%'
          order by i.started_at desc, i.id desc limit 1) end as user_id,
        c.opted_out_at is not null as is_out from ${members.contacts}
    ), out as materialized (
      select e.contact_id from (
        select distinct on (e.contact_id) e.contact_id, e.state, e.occurred_at, e.id from consent_entries e
        where e.tenant_id = $1 and e.category = ${word} order by e.contact_id, e.occurred_at desc, e.id desc) e
      where e.state = 'opted_out' and not exists (
        select from consent_entries a where a.tenant_id = $1 and a.contact_id = e.contact_id and a.category = 'all'
          and a.state = 'opted_in' and (a.occurred_at, a.id) > (e.occurred_at, e.id))
    ), named as materialized (
      select distinct i.contact_id from contact_identities i join channels ch on ch.tenant_id = $1
        and case when ${channel} is null then ch.is_default else ch.id = ${channel} end
      where i.tenant_id = $1 and i.kind = 'user_id' and i.ended_at is null
        and i.portfolio in (coalesce(ch.portfolio_id, 'waba:' || ch.waba_id), 'enterprise')
        and exists (select from audience where phone is null)
    ), blocked as materialized (
      select distinct f.contact_id from message_failures f
      where f.tenant_id = $1 and f.code = ${BLOCKED_CODE} and f.failed_at > now() - interval '30 days'
    ), capped as materialized (
      select m.contact_id from (
        ${messagesWhere(`id >= uuid_at(${since})`)} union all
        ${messagesWhere(`id < uuid_at(${since}) and id >= uuid_at(${since} - interval '1 year') and scheduled_at is not null and scheduled_at >= ${since}`)}
      ) m join templates p on p.tenant_id = $1 and p.id = m.template_id and lower(p.category) = ${word}
      join message_states s on s.tenant_id = $1 and s.message_id = m.id and s.status not in ('failed', 'cancelled')
      group by m.contact_id having count(*) >= ${messages}
    )
    select case when a.is_out or o.contact_id is not null then ${REASON.opted_out}
        when a.phone is null and n.contact_id is null then ${REASON.no_number}
        when b.contact_id is not null then ${REASON.blocked}
        when k.contact_id is not null then ${REASON.frequency_cap} end::smallint as reason,
      count(*)::int as count, min(a.phone) as phone, a.user_id, a.time_zone, to_jsonb((array_agg(a.id))[1:3]) as contact_ids
    from audience a
    left join out o on o.contact_id = a.id
    left join named n on n.contact_id = a.id and a.phone is null
    left join blocked b on b.contact_id = a.id
    left join capped k on k.contact_id = a.id
    group by 1, a.time_zone, a.user_id, length(a.phone), ${COUNTRY_PART}`;
  const { rows } = await db.executeQuery(raw<CountedPeople>(text, parameters.values));
  return rows;
}

/** Rows of a list beyond the first of each person. */
export async function countDuplicates(db: Db, tenantId: number, listId: number): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    select (count(*) - count(distinct l.contact_id))::int as count from campaign_list_rows l
    where l.tenant_id = ${tenantId} and l.list_id = ${listId}`.execute(db);
  return rows[0]?.count ?? 0;
}

/** Messages that the plan leaves for the month; null: any number. @param month first day, UTC */
export async function planLeft(db: Db, tenantId: number, month: string): Promise<number | null> {
  const { rows } = await sql<{ left: number | null }>`
    select case when p.max_messages is not null then greatest(0, p.max_messages - coalesce((
      select sum(u.messages) from monthly_usage u where u.tenant_id = ${tenantId} and u.month = ${month}::date), 0)) end::bigint as left
    from tenants t join plans p on p.id = t.plan_id where t.tenant_id = ${tenantId}`.execute(db);
  return rows[0]?.left ?? null;
}

/** The values of people in a list, by contact: those of their first row. */
export async function valuesOf(
  db: Db,
  tenantId: number,
  listId: number,
  contactIds: readonly number[],
): Promise<Map<number, Readonly<Record<string, string>>>> {
  const { rows } = await sql<{ contact_id: number; values: Readonly<Record<string, string>> }>`
    select distinct on (l.contact_id) l.contact_id, l.values from campaign_list_rows l
    where l.tenant_id = ${tenantId} and l.list_id = ${listId} and l.contact_id = any(${contactIds}::bigint[])
    order by l.contact_id, l.row_number`.execute(db);
  return new Map(rows.map(row => [row.contact_id, row.values]));
}
