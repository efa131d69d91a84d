import type { MessageStatus } from '../../network/network.ts';

export type Direction = 'inbound' | 'outbound';
export type Status = 'queued' | MessageStatus | 'received';

/** Why the network did not deliver a message, in its own words. */
export interface MessageError {
  readonly code: number;
  readonly title: string;
  readonly details: string;
}

/** A message as tables, events and webhooks have it. */
export interface PublicMessage {
  readonly id: string;
  readonly conversation_id: number;
  readonly contact_id: number;
  readonly channel_id: number;
  readonly direction: Direction;
  /** The network's word: text, image, button, reaction, unsupported, … */
  readonly type: string;
  readonly body: string | null;
  /** What the type has beside its text, as the network wrote it. */
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
}

export interface MessageRow extends PublicMessage {
  /** Where a query read them along. */
  readonly window_expires_at?: string | null;
  readonly phone?: string | null;
  /** In the answer to the send that made the message: whether it made the contact as well. */
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
] as const satisfies readonly (keyof PublicMessage)[];

/** The event payload of a row: its public columns and no others. */
export function publicMessage(row: MessageRow): PublicMessage {
  const { window_expires_at: _window, phone: _phone, contact_created: _created, ...message } = row;
  return message;
}
