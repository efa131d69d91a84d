import type { Context } from '../../context.ts';
import { merged, type Selection, selectionAt } from '../../graphql/selection.ts';
import { tenantOf } from '../caller.ts';
import { countList } from '../lists/count.ts';
import { type ListArgs, type ListDefinition, listStatement, Page } from '../lists/list.ts';
import { columnsOf } from './columns.ts';
import type { MessageRow } from './message.ts';
import { listMessages } from './store.ts';

const id = { sql: 'm.id', type: 'uuid' } as const;
const createdAt = { sql: 'm.created_at', type: 'timestamptz' } as const;
const updatedAt = { sql: 'm.updated_at', type: 'timestamptz' } as const;

const MESSAGES: ListDefinition = {
  from: 'messages m',
  tenantColumn: 'm.tenant_id',
  filters: {
    type: { sql: 'm.type', type: 'text' },
    status: { sql: 'm.status', type: 'text' },
    direction: { sql: 'm.direction', type: 'text' },
    conversationId: { sql: 'm.conversation_id', type: 'bigint', node: 'Conversation' },
    contactId: { sql: 'm.contact_id', type: 'bigint', node: 'Contact' },
    channelId: { sql: 'm.channel_id', type: 'bigint', node: 'Channel' },
    createdAt,
    updatedAt,
  },
  sorts: { id, createdAt, updatedAt },
  id,
  // Ids are time-ordered: newest first reads the newest partition and stops.
  defaultOrder: [{ column: id, descending: true }],
  search: pattern => `lower(m.body) like ${pattern}`,
};

/** One page of messages, newest first where nothing else is asked. */
export async function messagePage(context: Context, args: ListArgs, selection: Selection): Promise<Page<MessageRow>> {
  const statement = listStatement(MESSAGES, tenantOf(context), args);
  const nodes = merged(selectionAt(selection, 'edges', 'node'), selectionAt(selection, 'nodes'));
  const total = selection.has('totalCount') ? countList(context.db.read, statement) : undefined;
  total?.catch(() => undefined);
  const rows = await listMessages(context.db.read, statement, columnsOf(nodes), nodes.has('serviceWindow'));
  return new Page(statement, rows, () => total ?? countList(context.db.read, statement));
}
