import type { FilterColumn, FilterColumns } from '../../../database/list-filter.ts';
import { errorClassSql } from '../statuses/error-class.ts';

/** Dimensions of the stored statistics. Values for "none" are 0, '' and -1 (error_code, delivery_bucket). */
export const STATISTIC_COLUMNS = [
  'status',
  'channel_id',
  'template_id',
  'campaign_id',
  'author',
  'country',
  'category',
  'pricing_type',
  'is_billable',
  'error_code',
  'delivery_bucket',
] as const;
export type StatisticColumn = (typeof STATISTIC_COLUMNS)[number];

type Expressions = Readonly<Record<StatisticColumn, string>>;

/** Of `t`: a table of statistics. */
export const COUNTED = Object.fromEntries(STATISTIC_COLUMNS.map(name => [name, `t.${name}`])) as Expressions;

/** Of messages (`m`), their states (`s`) and prices (`p`): the same as the functions that write statistics have. */
export const LIVE: Expressions = {
  status: 's.status',
  channel_id: 'm.channel_id',
  template_id: 'coalesce(m.template_id, 0)',
  campaign_id: 'campaign_of(m.author)',
  author: `coalesce(m.author->>'kind', '')`,
  country: `coalesce(s.country, '')`,
  category: `coalesce(p.category, '')`,
  pricing_type: `coalesce(p.type, '')`,
  is_billable: 'coalesce(p.is_billable, false)',
  error_code: 'failure_code(s.status, s.error)',
  delivery_bucket: 'delivery_bucket(m.author, m.created_at, s.sent_at, s.delivered_at)',
};

/** Of messages that wait to be sent (`m`), and their status (`u`). */
export const WAITING: Expressions = {
  ...LIVE,
  status: 'u.status',
  country: `''`,
  category: `''`,
  pricing_type: `''`,
  is_billable: 'false',
  error_code: '-1',
  delivery_bucket: '(-1)::smallint',
};

const failed = (predicate: string): string => `(t.error_code >= 0 and ${predicate})`;

/** A key whose 0 means none. An id is compared without conversion, so that the primary key can be used. */
const keyOrNone = (sql: string, node: string): FilterColumn => ({
  sql,
  type: 'bigint',
  node,
  rewrite: conditions => ({
    column: Object.entries(conditions).every(([operator, value]) => value == null || ['eq', 'in'].includes(operator))
      ? { sql, type: 'bigint', node }
      : { sql: `nullif(${sql}, 0)`, type: 'bigint', node },
    conditions,
  }),
});

/** Filters that statistics can answer, with the meaning that they have for lists of messages. */
export const COUNTED_FILTERS: FilterColumns = {
  status: { sql: 't.status', type: 'text' },
  direction: { sql: `case when t.status = 'received' then 'inbound' else 'outbound' end`, type: 'text' },
  channelId: { sql: 't.channel_id', type: 'bigint', node: 'Channel' },
  templateId: keyOrNone('t.template_id', 'Template'),
  campaignId: keyOrNone('t.campaign_id', 'Campaign'),
  errorCode: { sql: 't.error_code', type: 'bigint', exists: failed },
  errorClass: { sql: errorClassSql('t.error_code'), type: 'text', exists: failed },
};
