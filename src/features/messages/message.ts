import type { Author } from '../../core/author.ts';
import type { MessageStatus } from '../../network/network.ts';

export type Direction = 'inbound' | 'outbound';
export type Status = 'scheduled' | 'queued' | MessageStatus | 'cancelled' | 'received';

/** Why a message was not delivered. */
export interface MessageError {
  /** Error code of the network; 0: decided by the gateway. */
  readonly code: number;
  readonly title: string;
  readonly details: string;
}

/** A message as stored. Events show it as `EventMessage`. */
export interface PublicMessage {
  readonly id: string;
  /** Null for a message in a group chat. */
  readonly conversation_id: number | null;
  readonly contact_id: number;
  readonly channel_id: number;
  readonly direction: Direction;
  /** The network's type: text, image, button, reaction, unsupported, … */
  readonly type: string;
  readonly body: string | null;
  /** The content apart from the text, in the network's format. */
  readonly content: Readonly<Record<string, unknown>>;
  readonly status: Status;
  readonly error: MessageError | null;
  /** The network's id. */
  readonly wamid: string | null;
  readonly reply_to_wamid: string | null;
  readonly sent_at: string | null;
  readonly delivered_at: string | null;
  readonly read_at: string | null;
  readonly failed_at: string | null;
  readonly created_at: string;
  readonly updated_at: string;
  /** Null for an inbound message, and for one that another system sent. */
  readonly author: Author | null;
  readonly template_id: number | null;
  /** The key that the client gave it. */
  readonly echo_id: string | null;
  /** The failed message that it sends again. */
  readonly retry_of: string | null;
}

/** Names in events that differ from those of columns: those of REST's rows. `template_row_id`: REST's `template_id` is the network's. */
const EVENT_NAMES = {
  conversation_id: 'interaction_id',
  body: 'message',
  error: 'status_message',
  wamid: 'message_id',
  reply_to_wamid: 'ref_message_id',
  template_id: 'template_row_id',
} as const satisfies Partial<Record<keyof PublicMessage, string>>;
type EventName<Column> = Column extends keyof typeof EVENT_NAMES ? (typeof EVENT_NAMES)[Column] : Column;

/** A message in events and exports: with the field names of REST's rows. */
export type EventMessage = {
  readonly [Column in keyof PublicMessage as EventName<Column>]: PublicMessage[Column];
};

/** The person of a message, in events: so that their receivers need not look it up. */
export interface MessageContact {
  readonly id: number;
  readonly firstname: string;
  readonly lastname: string;
  readonly phone: string | null;
}

/** Common payload of events about messages. */
export interface MessagePayload {
  readonly message: EventMessage;
  /** Null if the contact was deleted. */
  readonly contact: MessageContact | null;
}

export interface MessageRow extends PublicMessage {
  /** Set by queries that read them. */
  readonly window_expires_at?: string | null;
  readonly phone?: string | null;
  readonly contact?: MessageContact | null;
  /** In the result of a send: whether it created the contact. */
  readonly contact_created?: boolean;
}

export const MESSAGE_COLUMNS = [
  'id',
  'conversation_id',
  'contact_id',
  'channel_id',
  'direction',
  'type',
  'body',
  'content',
  'status',
  'error',
  'wamid',
  'reply_to_wamid',
  'sent_at',
  'delivered_at',
  'read_at',
  'failed_at',
  'created_at',
  'updated_at',
  'author',
  'template_id',
  'echo_id',
  'retry_of',
] as const satisfies readonly (keyof PublicMessage)[];

/** Columns of message_states; the others are of messages. */
const STATE_COLUMNS: ReadonlySet<string> = new Set([
  'status',
  'error',
  'wamid',
  'sent_at',
  'delivered_at',
  'read_at',
  'failed_at',
  'updated_at',
] satisfies (keyof PublicMessage)[]);

export const isStateColumn = (column: string): boolean => STATE_COLUMNS.has(column);

/** A message's column in SQL, from messages (`m`) or message_states (`s`). */
export const qualifiedColumn = (column: string): string => `${isStateColumn(column) ? 's' : 'm'}.${column}`;

/** The name in events of a column. */
export const eventName = <Column extends keyof PublicMessage>(column: Column): EventName<Column> =>
  ((EVENT_NAMES as Readonly<Record<string, string>>)[column] ?? column) as EventName<Column>;

/** A row as events show it. */
export const eventMessage = (row: MessageRow): EventMessage =>
  Object.fromEntries(MESSAGE_COLUMNS.map(column => [eventName(column), row[column]])) as unknown as EventMessage;

/** The row that an event shows. */
export const rowOfEvent = (message: EventMessage): PublicMessage =>
  Object.fromEntries(MESSAGE_COLUMNS.map(column => [column, message[eventName(column)]])) as unknown as PublicMessage;

/** Key of a message by the network's id, which is unique within a channel: two channels of an account may have the same one. */
export const wamidKey = (channelId: number, wamid: string | null): string => `${channelId} ${wamid}`;

/** The stored content of a message: an object, whatever value the network sent. */
export const contentObject = (content: unknown): Record<string, unknown> =>
  content !== null && typeof content === 'object' && !Array.isArray(content)
    ? (content as Record<string, unknown>)
    : content === undefined
      ? {}
      : { value: content };
