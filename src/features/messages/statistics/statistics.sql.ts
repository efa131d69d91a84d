import { sql } from 'kysely';
import type { Filter } from '../../../core/list-args.ts';
import type { Db } from '../../../database/database.ts';
import { type FilterColumns, filterConditions } from '../../../database/list-filter.ts';
import { Parameters } from '../../../database/list-sql.ts';
import { raw } from '../../../database/statements.ts';
import { MESSAGE_FILTERS } from '../list.ts';
import { COUNTED, COUNTED_FILTERS, LIVE, type StatisticColumn, WAITING } from './columns.ts';
import type { Spans } from './spans.ts';

/** Query of a report. */
export interface CountRequest {
  readonly spans: Spans;
  /** Starts of intervals, ascending: each row has the place (from 1) of the last one that is not after it. */
  readonly starts: readonly number[];
  readonly columns: readonly StatisticColumn[];
  readonly filter: Filter;
  /** Only messages for which the network named a price. */
  readonly onlyPriced: boolean;
}

export type CountRow = Readonly<Partial<Record<StatisticColumn, string | number | boolean>>> & {
  readonly place: number;
  readonly messages: number;
};

/** As of lists of messages, without a look at the recipients of a campaign. */
const LIVE_FILTERS: FilterColumns = {
  ...MESSAGE_FILTERS,
  campaignId: { sql: `nullif(${LIVE.campaign_id}, 0)`, type: 'bigint', node: 'Campaign' },
};

const isoOf = (ms: number): string => new Date(ms).toISOString();

/**
 * Counts messages: whole hours from the statistics and what is not yet moved there, the rest from messages. One statement, so that
 * every message is counted once while its status changes.
 */
export async function countMessages(db: Db, tenantId: number, request: CountRequest): Promise<CountRow[]> {
  const values = new Parameters([tenantId]);
  const { spans, columns, onlyPriced } = request;
  const starts = values.add(request.starts.map(isoOf), 'timestamptz[]');
  const sources: string[] = [];
  if (spans.hours[0] < spans.hours[1]) {
    const hours = hoursSql(values, spans);
    const table = columns.includes('delivery_bucket') ? 'delivery_statistics' : 'message_statistics';
    for (const from of [table, 'message_statistics_pending'])
      sources.push(countedSql(tenantId, values, request, from, hours));
    if (!onlyPriced && !columns.includes('delivery_bucket') && mayWait(request.filter))
      sources.push(waitingSql(tenantId, values, request));
  }
  if (spans.ranges.length > 0) sources.push(liveSql(tenantId, values, request));
  const groups = columns.map(name => `c.${name}`);
  const text = `
    select width_bucket(c.at, ${starts}) as place, ${[...groups, 'sum(c.messages)::bigint as messages'].join(', ')}
    from (${sources.join(' union all ')}) c
    group by ${['1', ...groups].join(', ')} having sum(c.messages) <> 0`;
  return (await db.executeQuery(raw<CountRow>(text, values.values))).rows;
}

const selected = (columns: readonly StatisticColumn[], expressions: typeof LIVE): string =>
  columns.map(name => `, ${expressions[name]} as ${name}`).join('');

function hoursSql(values: Parameters, { hours: [from, to], splitHours }: Spans): string {
  const split =
    splitHours.length > 0 ? ` and t.hour <> all(${values.add(splitHours.map(isoOf), 'timestamptz[]')})` : '';
  return `t.hour >= ${values.add(isoOf(from), 'timestamptz')} and t.hour < ${values.add(isoOf(to), 'timestamptz')}${split}`;
}

function countedSql(tenantId: number, values: Parameters, request: CountRequest, table: string, hours: string): string {
  const { columns, filter, onlyPriced } = request;
  const conditions = ['t.tenant_id = $1', hours, 't.messages <> 0'];
  if (onlyPriced) conditions.push(`(t.category <> '' or t.is_billable)`);
  if (columns.includes('delivery_bucket')) conditions.push('t.delivery_bucket >= 0');
  conditions.push(...filterConditions(COUNTED_FILTERS, tenantId, filter, values));
  // Deliveries are not counted by error: what was delivered cannot fail.
  const expressions = table === 'delivery_statistics' ? { ...COUNTED, error_code: '-1' } : COUNTED;
  return `select t.hour as at${selected(columns, expressions)}, t.messages from ${table} t where ${conditions.join(' and ')}`;
}

/**
 * Messages that wait to be sent are not in the statistics: accepting one would have to write there. The lateral join has one plan, whose
 * cost is that of the messages that wait: a hash join would read all messages of the range.
 */
function waitingSql(tenantId: number, values: Parameters, { spans, columns, filter }: CountRequest): string {
  const [from, to] = spans.hours;
  const conditions = [
    'm.tenant_id = $1',
    'm.id = u.message_id',
    `m.created_at >= ${values.add(isoOf(from), 'timestamptz')}`,
    `m.created_at < ${values.add(isoOf(to), 'timestamptz')}`,
  ];
  if (spans.splitHours.length > 0)
    conditions.push(
      `date_trunc('hour', m.created_at, 'UTC') <> all(${values.add(spans.splitHours.map(isoOf), 'timestamptz[]')})`,
    );
  conditions.push(...filterConditions(LIVE_FILTERS, tenantId, filter, values));
  return `select m.created_at as at${selected(columns, WAITING)}, 1::bigint as messages
    from message_updates u
    cross join lateral (select m.* from messages m where ${conditions.join(' and ')} offset 0) m
    where u.tenant_id = $1 and u.status in ('queued', 'scheduled')`;
}

/** Whether a filter may hold for messages that wait. */
function mayWait({ status }: Filter): boolean {
  const { eq, in: among } = (status ?? {}) as { readonly eq?: string | null; readonly in?: readonly string[] | null };
  const words = eq == null ? among : [eq];
  return words == null || words.includes('queued') || words.includes('scheduled');
}

/**
 * Each range is looked up by the index of the time: of bounds from a plain join PostgreSQL expects a ninth of the messages, and reads
 * whole months. States and prices are looked up by their keys: joined, all of the tenant's could be read where statistics are of empty
 * tables.
 */
function liveSql(tenantId: number, values: Parameters, { spans, columns, filter, onlyPriced }: CountRequest): string {
  const [from, to] = [0, 1].map(side =>
    values.add(
      spans.ranges.map(range => isoOf(range[side] ?? 0)),
      'timestamptz[]',
    ),
  );
  const conditions = filterConditions(LIVE_FILTERS, tenantId, filter, values);
  if (onlyPriced) conditions.push('(p.category is not null or p.is_billable)');
  if (columns.includes('delivery_bucket')) conditions.push(`${LIVE.delivery_bucket} >= 0`);
  return `select m.created_at as at${selected(columns, LIVE)}, 1::bigint as messages
    from unnest(${from}, ${to}) r (first, after)
    cross join lateral (
      select k.* from messages k where k.tenant_id = $1 and k.created_at >= r.first and k.created_at < r.after offset 0) m
    cross join lateral (select k.* from message_states k where k.tenant_id = $1 and k.message_id = m.id offset 0) s
    left join lateral (select k.* from message_pricing k where k.tenant_id = $1 and k.message_id = m.id offset 0) p on true
    where ${['true', ...conditions].join(' and ')}`;
}

/**
 * Moves changes into the statistics, in the order of their keys, so that two processes do not deadlock. A change is removed by the
 * transaction that adds it: none is counted twice or lost, whenever a process dies.
 * @returns the number of changes moved
 */
export async function movePending(db: Db, limit: number): Promise<number> {
  const { rows } = await sql<{ moved: number }>`
    /* cross-tenant: housekeeping of the statistics of all tenants */
    with moved as materialized (
      delete from message_statistics_pending d using (
        select tenant_id, id from message_statistics_pending order by tenant_id, id limit ${limit} for update skip locked
      ) n
      where d.tenant_id = n.tenant_id and d.id = n.id returning d.*
    ), counted as (
      insert into message_statistics as t (tenant_id, hour, channel_id, template_id, campaign_id, author, status, country, category, pricing_type,
        is_billable, error_code, messages)
      select tenant_id, hour, channel_id, template_id, campaign_id, author, status, country, category, pricing_type, is_billable, error_code,
        sum(messages)
      from moved group by 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12 having sum(messages) <> 0 order by 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12
      on conflict (tenant_id, hour, channel_id, template_id, campaign_id, author, status, country, category, pricing_type, is_billable, error_code)
        do update set messages = t.messages + excluded.messages
    ), delivered as (
      insert into delivery_statistics as t (tenant_id, hour, channel_id, template_id, campaign_id, author, status, country, category, pricing_type,
        is_billable, delivery_bucket, messages)
      select tenant_id, hour, channel_id, template_id, campaign_id, author, status, country, category, pricing_type, is_billable, delivery_bucket,
        sum(messages)
      from moved where delivery_bucket >= 0
      group by 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12 having sum(messages) <> 0 order by 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12
      on conflict (tenant_id, hour, channel_id, template_id, campaign_id, author, status, country, category, pricing_type, is_billable, delivery_bucket)
        do update set messages = t.messages + excluded.messages
    )
    select count(*)::integer as moved from moved`.execute(db);
  return rows[0]?.moved ?? 0;
}

/**
 * Removes counts that have become zero: each message leaves one behind in every status that it had. Of hours at least two days ago,
 * because those of newer ones change again.
 * @param limit of each table
 * @returns the most removed from one table
 */
export async function deleteZeroCounts(db: Db, limit: number): Promise<number> {
  const { rows } = await sql<{ removed: number }>`
    /* cross-tenant: housekeeping of the statistics of all tenants */
    with counted as (
      delete from message_statistics t using (
        select z.ctid from message_statistics z where z.messages = 0 and z.hour < now() - interval '2 days' limit ${limit} for update skip locked
      ) z where t.ctid = z.ctid returning t.tenant_id
    ), delivered as (
      delete from delivery_statistics t using (
        select z.ctid from delivery_statistics z where z.messages = 0 and z.hour < now() - interval '2 days' limit ${limit} for update skip locked
      ) z where t.ctid = z.ctid returning t.tenant_id
    )
    select greatest((select count(*) from counted), (select count(*) from delivered))::integer as removed`.execute(db);
  return rows[0]?.removed ?? 0;
}
