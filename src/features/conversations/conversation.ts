/** Pending: a bot has the conversation. */
export const CONVERSATION_STATUSES = ['open', 'pending', 'snoozed', 'closed'] as const;
export type ConversationStatus = (typeof CONVERSATION_STATUSES)[number];

/** A conversation as events carry it. */
export interface PublicConversation {
  readonly id: number;
  readonly contact_id: number;
  readonly channel_id: number;
  readonly status: ConversationStatus;
  /** Null in a snoozed conversation: until the person writes. */
  readonly snoozed_until: string | null;
  readonly assignee_id: number | null;
  /** Unread inbound messages, without reactions. */
  readonly unread_count: number;
  /** Time of the oldest inbound message without an answer. */
  readonly waiting_since: string | null;
  readonly window_expires_at: string | null;
  /** Without reactions. */
  readonly last_message_id: string | null;
  readonly last_activity_at: string;
  readonly created_at: string;
  readonly updated_at: string;
  readonly tag_ids: readonly number[];
}

export const CONVERSATION_COLUMNS = [
  'id',
  'contact_id',
  'channel_id',
  'status',
  'snoozed_until',
  'assignee_id',
  'unread_count',
  'waiting_since',
  'window_expires_at',
  'last_message_id',
  'last_activity_at',
  'created_at',
  'updated_at',
] as const satisfies readonly (keyof PublicConversation)[];

/** State of a conversation that people and sweeps change; each change appends an event. */
export type ConversationState = Pick<
  PublicConversation,
  'status' | 'snoozed_until' | 'assignee_id' | 'unread_count' | 'tag_ids'
>;

/** Former values in `conversation.updated`: `id` and `contact_id` only if a merge of contacts, or its undo, changed them. */
export type ConversationBefore = Partial<ConversationState & Pick<PublicConversation, 'id' | 'contact_id'>>;

const STATE = [
  'status',
  'snoozed_until',
  'assignee_id',
  'unread_count',
  'tag_ids',
] as const satisfies readonly (keyof ConversationState)[];

/** The former values of what changed; undefined if nothing did. */
export function previousState(
  before: ConversationState,
  after: ConversationState,
): Partial<ConversationState> | undefined {
  const changed = STATE.filter(field => String(before[field]) !== String(after[field]));
  return changed.length === 0 ? undefined : Object.fromEntries(changed.map(field => [field, before[field]]));
}
