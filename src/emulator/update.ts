import type { JsonObject } from '../platform/json.ts';

export type StatusWord = 'sent' | 'delivered' | 'read' | 'failed';

/** A message that the network accepted. */
export interface AcceptedMessage {
  readonly wamid: string;
  readonly phoneNumberId: string;
  readonly wabaId: string;
  /** As given by the client. */
  readonly to: string;
  readonly waId: string | undefined;
  readonly userId: string | undefined;
  readonly type: string;
  /** The readable text: text, caption, filled template. */
  readonly body: string | undefined;
  /** The content object, as sent. */
  readonly content: JsonObject;
  readonly callbackData: string | undefined;
  /** The message that it quotes (`context`). */
  readonly replyTo?: string | undefined;
  /** `service` for free-form messages, the template's category otherwise. */
  readonly category: string;
  /** Milliseconds since the epoch. */
  readonly at: number;
  /** Position in the order of all events: several messages can have the same time. */
  readonly seq: number;
  /** Set while the phone is offline; permanently if the person had blocked the number when it was sent. */
  readonly held?: 'offline' | 'blocked' | undefined;
}

/** One update of a webhook. `seq` identifies it in the journal. */
export type Update =
  | {
      readonly kind: 'status';
      readonly seq: number;
      readonly at: number;
      readonly message: AcceptedMessage;
      readonly status: StatusWord;
      readonly error: WebhookError | undefined;
    }
  | {
      readonly kind: 'message';
      readonly seq: number;
      readonly wabaId: string;
      readonly phoneNumberId: string;
      readonly message: JsonObject;
      /** Absent for system messages, which come without contacts. */
      readonly contact: JsonObject | undefined;
    }
  | {
      readonly kind: 'change';
      readonly seq: number;
      readonly wabaId: string;
      readonly field: string;
      readonly value: JsonObject;
    };

export interface WebhookError {
  readonly code: number;
  readonly details?: string;
}

export function wabaOf(update: Update): string {
  return update.kind === 'status' ? update.message.wabaId : update.wabaId;
}
