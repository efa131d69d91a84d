/** A table whose rows a merge moves, and the column that identifies a row when the merge is undone. */
export interface MovedTable {
  readonly table: string;
  readonly key: string;
}

/**
 * Every table with a `contact_id`, apart from those below. A test compares the list with the database's catalogue, because the rows
 * of a missing table would be deleted with the merged contact.
 */
export const MOVED_TABLES: readonly MovedTable[] = [
  { table: 'conversations', key: 'id' },
  { table: 'notes', key: 'id' },
  { table: 'otps', key: 'id' },
  { table: 'bot_replies', key: 'reply_message_id' },
  { table: 'integration_acts', key: 'delivery_id' },
  { table: 'contact_identities', key: 'id' },
  { table: 'consent_entries', key: 'id' },
  { table: 'contact_merges', key: 'id' },
  { table: 'events', key: 'id' },
  { table: 'outbox', key: 'message_id' },
  { table: 'message_failures', key: 'message_id' },
  { table: 'message_edits', key: 'wamid' },
  { table: 'message_reactions', key: 'wamid' },
  { table: 'group_chat_participants', key: 'id' },
  { table: 'campaign_list_rows', key: 'id' },
];

/** Tables with a `contact_id` that need other statements: messages follow their conversation, memberships exist once. */
export const OTHER_TABLES = ['messages', 'contact_groups'] as const;

/**
 * Tables whose `contact_id` stays: receipts of erased contacts, exports of what a contact was then, and rows that erasure finds by former ids. Requests and deliveries
 * lock them, and a merge must not wait for those. A campaign resolves the former ids of its recipients itself.
 */
export const KEPT_TABLES = [
  'campaign_recipients',
  'erasure_receipts',
  'exports',
  'idempotency_keys',
  'webhook_deliveries',
] as const;

/** Tables with a `conversation_id`, whose rows follow a conversation that is folded into another one. */
export const CONVERSATION_TABLES = ['messages', 'events', 'thread_owners', 'conversation_tags', 'notes'] as const;

/** Tables whose `conversation_id` is not changed by a merge: their rows end within half a minute, and their clients write new ones. */
export const KEPT_CONVERSATION_TABLES = ['staff_presence'] as const;
