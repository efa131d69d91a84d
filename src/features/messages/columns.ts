import type { Selection } from '../../graphql/selection.ts';
import { MESSAGE_COLUMNS } from './message.ts';

type Column = (typeof MESSAGE_COLUMNS)[number];

/** Which columns each GraphQL field of a message needs. */
const COLUMNS_OF: Readonly<Record<string, readonly Column[]>> = {
  id: ['id'],
  databaseId: ['id'],
  direction: ['direction'],
  type: ['type'],
  text: ['body'],
  content: ['content'],
  rendered: ['type', 'content'],
  media: ['type', 'content'],
  location: ['type', 'content'],
  sharedContacts: ['type', 'content'],
  reply: ['direction', 'type', 'content'],
  status: ['status'],
  error: ['error'],
  wamid: ['wamid'],
  replyToWamid: ['reply_to_wamid'],
  replyTo: ['reply_to_wamid'],
  isRead: ['read_at'],
  phone: ['contact_id'],
  contactCreated: [],
  contactId: ['contact_id'],
  contact: ['contact_id'],
  conversationId: ['conversation_id'],
  channel: ['channel_id'],
  serviceWindow: ['conversation_id'],
  sentAt: ['sent_at'],
  deliveredAt: ['delivered_at'],
  readAt: ['read_at'],
  failedAt: ['failed_at'],
  createdAt: ['created_at'],
  updatedAt: ['updated_at'],
};

/** The columns that a list reads for a selection, in the table's order. A field that stands nowhere above may need any: all are read. */
export function columnsOf(selection: Selection): readonly Column[] {
  const needed = new Set<Column>(['id']);
  for (const field of selection.keys()) {
    const columns = Object.hasOwn(COLUMNS_OF, field) ? COLUMNS_OF[field] : undefined;
    if (!columns) return MESSAGE_COLUMNS;
    for (const column of columns) needed.add(column);
  }
  return MESSAGE_COLUMNS.filter(column => needed.has(column));
}
