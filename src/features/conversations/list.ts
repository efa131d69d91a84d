import type { Filter, ListArgs } from '../../core/list-args.ts';
import { callerOf, requireScope } from '../../core/principal.ts';
import { countList, type ListDefinition, listColumns, listStatement, Page } from '../../database/list.ts';
import { HOUR, MINUTE } from '../../platform/clock.ts';
import type { Context } from '../../schema/context.ts';
import { merged, type Selection, selectionAt } from '../../schema/selection.ts';
import { currentContact } from '../contacts/columns.ts';
import { CONTACT_FILTERS, contactSearch } from '../contacts/list.ts';
import { currentConversation } from './columns.ts';
import { type ConversationRow, listConversations } from './page.sql.ts';

const column = listColumns('conversations', 'v');
const id = column('id', 'bigint');
const activitySlot = column('activity_slot', 'timestamptz');
const lastActivityAt = column('last_activity_at', 'timestamptz');
const windowSlot = { ...column('window_slot', 'timestamptz'), isNullable: true };
const createdAt = column('created_at', 'timestamptz');
const updatedAt = column('updated_at', 'timestamptz');
const windowExpiresAt = { ...column('window_expires_at', 'timestamptz'), isNullable: true };
const waitingSince = { ...column('waiting_since', 'timestamptz'), isNullable: true };

/** The conversations with contacts (`c`) that meet conditions. */
const ofContacts = (predicate: string): string =>
  `v.contact_id in (select c.id from contacts c where c.tenant_id = $1 and ${predicate})`;

export const CONVERSATIONS: ListDefinition = {
  from: 'conversations v',
  tenantColumn: 'v.tenant_id',
  filters: {
    id: { ...id, node: 'Conversation', currentId: currentConversation },
    status: column('status', 'text'),
    assigneeId: { ...column('assignee_id', 'bigint'), node: 'StaffMember' },
    channelId: { ...column('channel_id', 'bigint'), node: 'Channel' },
    contactId: { ...column('contact_id', 'bigint'), node: 'Contact', currentId: currentContact },
    contact: {
      columns: CONTACT_FILTERS,
      semiJoin: ofContacts,
    },
    tagId: {
      sql: 't.tag_id',
      type: 'bigint',
      node: 'Tag',
      exists: predicate =>
        `exists (select from conversation_tags t where t.tenant_id = $1 and t.conversation_id = v.id and ${predicate})`,
    },
    unreadCount: column('unread_count', 'bigint'),
    waitingSince,
    windowExpiresAt,
    lastActivityAt,
    createdAt,
    updatedAt,
    // Added by `withIndexed`.
    isUnread: { sql: 'v.is_unread', type: 'boolean', exists: () => 'v.is_unread' },
    isWaiting: { sql: 'v.status', type: 'text', exists: () => `v.status = any('{open,pending,snoozed}')` },
    activitySlot,
    windowSlot,
  },
  sorts: {
    id,
    activitySlot,
    lastActivityAt,
    createdAt,
    updatedAt,
    waitingSince,
    windowSlot,
    windowExpiresAt,
  },
  id,
  defaultOrder: [
    { column: activitySlot, descending: true },
    { column: lastActivityAt, descending: true },
    { column: id, descending: true },
  ],
  search: 'c.search_text',
  searchSemiJoin: ofContacts,
};

/**
 * Columns that messages change are not indexed; the indexes have generated columns with these times rounded to a slot, which sort in the
 * same order.
 */
const SLOTS: Readonly<Record<string, { readonly slot: string; readonly ms: number }>> = {
  lastActivityAt: { slot: 'activitySlot', ms: 10 * MINUTE },
  windowExpiresAt: { slot: 'windowSlot', ms: HOUR },
};

/** Widens an operator on an instant to its slot; undefined for operators that an index does not help. */
function onSlot(operators: Filter, ms: number): Filter {
  const floor = (value: unknown): string => new Date(Math.floor(Date.parse(String(value)) / ms) * ms).toISOString();
  return Object.fromEntries(
    Object.entries(operators).flatMap(([operator, value]): [string, unknown][] => {
      if (value == null) return [];
      if (operator === 'gt' || operator === 'gte') return [['gte', floor(value)]];
      if (operator === 'lt' || operator === 'lte') return [['lte', floor(value)]];
      return [];
    }),
  );
}

/**
 * Adds to the outermost conditions of a filter what follows from them and has an index: the slot of an instant, that something is
 * unread, that what waits is not closed.
 */
export function withIndexed(filter: Filter | null | undefined): Filter | null | undefined {
  if (!filter) return filter;
  const added: Record<string, unknown> = {};
  for (const [field, { slot, ms }] of Object.entries(SLOTS))
    if (filter[field] != null) added[slot] = onSlot(filter[field] as Filter, ms);
  const unread = filter['unreadCount'] as Readonly<Record<string, unknown>> | null | undefined;
  if (Number(unread?.['gt'] ?? -1) >= 0 || Number(unread?.['gte'] ?? 0) >= 1 || Number(unread?.['eq'] ?? 0) >= 1)
    added['isUnread'] = { isNull: false };
  const waiting = filter['waitingSince'] as Readonly<Record<string, unknown>> | null | undefined;
  if (waiting?.['isNull'] === false || waiting?.['lt'] != null || waiting?.['lte'] != null)
    added['isWaiting'] = { isNull: false };
  return { ...filter, ...added };
}

/** Puts the slot of an instant before it: an index has the slots in order, and only the rows of a slot are sorted. */
const withSlots = (orderBy: ListArgs['orderBy']): ListArgs['orderBy'] =>
  orderBy?.flatMap(({ field, direction }) => {
    const slot = SLOTS[field]?.slot;
    return slot === undefined
      ? [{ field, direction }]
      : [
          { field: slot, direction },
          { field, direction },
        ];
  });

/** Whether a filter has conditions on the contact, at any level. */
export const hasContactFilter = (filter: Filter | null | undefined): boolean =>
  filter != null &&
  Object.entries(filter).some(
    ([field, value]) =>
      value != null &&
      (field === 'contact' ||
        (field === 'not' && hasContactFilter(value as Filter)) ||
        ((field === 'and' || field === 'or') && (value as readonly Filter[]).some(hasContactFilter))),
  );

/**
 * Conditions on the contact need `contacts:read`: which conversations match them reveals fields of the contact.
 * @throws INSUFFICIENT_SCOPE
 */
export function checkContactFilter(context: Context, filter: Filter | null | undefined): void {
  if (hasContactFilter(filter)) requireScope(callerOf(context), 'contacts:read');
}

/**
 * One page of conversations with the selected rows below them, read in one statement; by default the latest activity first.
 * @param within further conditions, which the caller did not give
 */
export async function conversationPage(
  context: Context,
  args: ListArgs,
  selection: Selection,
  within: Filter = {},
): Promise<Page<ConversationRow>> {
  checkContactFilter(context, args.filter);
  const { tenant } = callerOf(context);
  const terms = contactSearch(args.search ?? '', tenant.defaultCountry);
  if (terms.length > 0) requireScope(callerOf(context), 'contacts:read');
  const indexed = { ...args, filter: withIndexed(args.filter), orderBy: withSlots(args.orderBy) };
  const statement = listStatement(CONVERSATIONS, tenant.id, indexed, terms, within);
  const nodes = merged(selectionAt(selection, 'edges', 'node'), selectionAt(selection, 'nodes'));
  const withCursors = selection.has('edges') || selection.has('pageInfo');
  const rows = await listConversations(context.db.read, statement, nodes, withCursors);
  return new Page(statement, rows, () => countList(context.db.read, statement));
}
