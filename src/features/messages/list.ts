import type { Filter, ListArgs } from '../../core/list-args.ts';
import { tenantOf } from '../../core/principal.ts';
import { countList, type ListDefinition, listStatement, Page, whereOf } from '../../database/list.ts';
import type { FilterColumns } from '../../database/list-filter.ts';
import type { Context } from '../../schema/context.ts';
import { merged, type Selection, selectionAt } from '../../schema/selection.ts';
import { currentContact } from '../contacts/columns.ts';
import { currentConversation } from '../conversations/columns.ts';
import { MESSAGE_TYPE_SQL } from './content/message-type.ts';
import { MESSAGE_COLUMNS, type MessageRow } from './message.ts';
import { listMessages } from './messages.sql.ts';
import { errorClassSql } from './statuses/error-class.ts';

/** Status and last change are indexed in `message_updates`, which has a row for every message. */
const changed = (predicate: string): string =>
  predicate === 'true'
    ? predicate
    : `exists (select from message_updates u where u.tenant_id = m.tenant_id and u.message_id = m.id and ${predicate})`;

/** By the primary key of `message_wamids`, for each channel. */
const withWamid = (predicate: string): string =>
  `m.id in (select w.message_id from channels ch join message_wamids w on w.tenant_id = ch.tenant_id and w.channel_id = ch.id
     where ch.tenant_id = $1 and ${predicate})`;

/** By the recipients of the campaign. */
const ofCampaign = (predicate: string): string =>
  `m.id in (select r.message_id from campaign_recipients r where r.tenant_id = $1 and r.message_id is not null and ${predicate})`;

/** By the indexes of `message_failures`, which has a row for every failure. */
const failed = (predicate: string): string =>
  `m.id in (select f.message_id from message_failures f where f.tenant_id = $1 and ${predicate})`;

const id = { sql: 'm.id', type: 'uuid' } as const;
const createdAt = { sql: 'm.created_at', type: 'timestamptz' } as const;

/** Filters of messages; the table is `m`, the tenant `$1`. */
export const MESSAGE_FILTERS: FilterColumns = {
  id: { sql: 'm.id', type: 'uuid', node: 'Message' },
  type: { sql: MESSAGE_TYPE_SQL, type: 'text' },
  networkType: { sql: 'm.type', type: 'text' },
  templateId: { sql: 'm.template_id', type: 'bigint', node: 'Template' },
  campaignId: {
    sql: 'r.campaign_id',
    type: 'bigint',
    node: 'Campaign',
    exists: ofCampaign,
  },
  errorCode: { sql: 'f.code', type: 'bigint', exists: failed },
  errorClass: { sql: errorClassSql('f.code'), type: 'text', exists: failed },
  failedAt: { sql: 'f.failed_at', type: 'timestamptz', exists: failed },
  status: { sql: 'u.status', type: 'text', exists: changed },
  direction: { sql: 'm.direction', type: 'text' },
  conversationId: { sql: 'm.conversation_id', type: 'bigint', node: 'Conversation', currentId: currentConversation },
  contactId: { sql: 'm.contact_id', type: 'bigint', node: 'Contact', currentId: currentContact },
  channelId: { sql: 'm.channel_id', type: 'bigint', node: 'Channel' },
  wamid: { sql: 'w.wamid', type: 'text', exists: withWamid },
  createdAt,
  updatedAt: { sql: 'u.updated_at', type: 'timestamptz', exists: changed },
};

const MESSAGES: ListDefinition = {
  from: 'messages m',
  tenantColumn: 'm.tenant_id',
  filters: MESSAGE_FILTERS,
  sorts: { id, createdAt },
  id,
  // Ids are time-ordered: newest first reads the newest partition and stops.
  defaultOrder: [{ column: id, descending: true }],
  search: 'search_fold(m.body)',
};

const updateId = { sql: 'o.message_id', type: 'uuid' } as const;

/** Ordered by last change, with the id of the same table, so that one index has the order. */
const MESSAGES_BY_UPDATE: ListDefinition = {
  ...MESSAGES,
  from: 'message_updates o join messages m on m.tenant_id = o.tenant_id and m.id = o.message_id',
  tenantColumn: 'o.tenant_id',
  sorts: { id: updateId, createdAt, updatedAt: { sql: 'o.updated_at', type: 'timestamptz' } },
  id: updateId,
};

const failureId = { sql: 'o.message_id', type: 'uuid' } as const;

/**
 * Failed messages, by their failures: a message has one, and stays failed. The lateral join has one plan; planned as a join, a count of
 * the failures of a week read the keys of all messages of the tenant.
 */
const MESSAGES_BY_FAILURE: ListDefinition = {
  ...MESSAGES,
  from: `message_failures o cross join lateral (
    select k.* from messages k where k.tenant_id = o.tenant_id and k.id = o.message_id offset 0) m`,
  tenantColumn: 'o.tenant_id',
  filters: {
    ...MESSAGE_FILTERS,
    status: { sql: `'failed'`, type: 'text' },
    errorCode: { sql: 'o.code', type: 'bigint' },
    errorClass: { sql: errorClassSql('o.code'), type: 'text' },
    failedAt: { sql: 'o.failed_at', type: 'timestamptz' },
  },
  sorts: { id: failureId, createdAt, failedAt: { sql: 'o.failed_at', type: 'timestamptz' } },
  id: failureId,
  defaultOrder: [{ column: failureId, descending: true }],
};

const OF_FAILURES = ['failedAt', 'errorCode', 'errorClass'] as const;
/** Operators that only hold for a value. */
const POSITIVE = ['eq', 'gt', 'gte', 'lt', 'lte', 'in', 'between'];

/** Whether a filter holds for failed messages only, by a condition that an index of failures has. */
const isOfFailures = (filter: Filter | null | undefined): boolean =>
  OF_FAILURES.some(field =>
    POSITIVE.some(operator => (filter?.[field] as Filter | null | undefined)?.[operator] != null),
  );

/** The messages (`m`) that meet a filter, as a condition with parameters. @throws VALIDATION_ERROR as the list */
export const messagesWhere = (tenantId: number, filter: Filter) => whereOf(MESSAGES, tenantId, filter);

type Column = (typeof MESSAGE_COLUMNS)[number];

/** The columns that each GraphQL field of a message needs. */
const COLUMNS_OF: Readonly<Record<string, readonly Column[]>> = {
  id: ['id'],
  databaseId: ['id'],
  direction: ['direction'],
  type: ['direction', 'type', 'content'],
  networkType: ['type'],
  raw: ['content'],
  text: ['body'],
  content: ['direction', 'type', 'body', 'content', 'error'],
  previewText: ['direction', 'type', 'body', 'content', 'error'],
  media: ['type', 'content'],
  status: ['status'],
  error: ['error'],
  wamid: ['wamid'],
  replyToWamid: ['reply_to_wamid'],
  replyTo: ['reply_to_wamid'],
  isRead: ['read_at'],
  phone: ['contact_id'],
  sentBy: ['author'],
  template: ['template_id'],
  pricing: ['direction'],
  echoId: ['echo_id'],
  retryOf: ['retry_of'],
  reactions: ['channel_id', 'wamid'],
  edits: ['channel_id', 'wamid'],
  editedAt: ['id'],
  revokedAt: ['id'],
  forwarding: ['id'],
  referral: ['id'],
  contactId: ['contact_id'],
  contact: ['contact_id'],
  conversationId: ['conversation_id'],
  channel: ['channel_id'],
  serviceWindow: ['conversation_id'],
  scheduledAt: ['direction'],
  sentAt: ['sent_at'],
  deliveredAt: ['delivered_at'],
  readAt: ['read_at'],
  failedAt: ['failed_at'],
  createdAt: ['created_at'],
  updatedAt: ['updated_at'],
};

/** The columns to read for a selection; all of them if it has a field that is not listed above. */
export function messageColumnsOf(selection: Selection): readonly Column[] {
  const needed = new Set<Column>(['id']);
  for (const field of selection.keys()) {
    const columns = Object.hasOwn(COLUMNS_OF, field) ? COLUMNS_OF[field] : undefined;
    if (!columns) return MESSAGE_COLUMNS;
    for (const column of columns) needed.add(column);
  }
  return MESSAGE_COLUMNS.filter(column => needed.has(column));
}

/** One page of messages, by default the newest first. @param within further conditions, which the caller did not give */
export async function messagePage(
  context: Context,
  args: ListArgs,
  selection: Selection,
  within: Filter = {},
): Promise<Page<MessageRow>> {
  const sortsBy = (name: string) => args.orderBy?.some(({ field }) => field === name) === true;
  const definition = sortsBy('failedAt')
    ? MESSAGES_BY_FAILURE
    : sortsBy('updatedAt')
      ? MESSAGES_BY_UPDATE
      : isOfFailures(args.filter)
        ? MESSAGES_BY_FAILURE
        : MESSAGES;
  const statement = listStatement(definition, tenantOf(context), args, undefined, within);
  const nodes = merged(selectionAt(selection, 'edges', 'node'), selectionAt(selection, 'nodes'));
  const total = selection.has('totalCount') ? countList(context.db.read, statement) : undefined;
  total?.catch(() => undefined);
  const rows = await listMessages(context.db.read, statement, messageColumnsOf(nodes), nodes.has('serviceWindow'));
  return new Page(statement, rows, () => total ?? countList(context.db.read, statement));
}
