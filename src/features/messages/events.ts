import type { PublicConversation } from '../conversations/conversation.ts';
import type { MessageDetails } from './inbound/details.ts';
import type { EventMessage, MessagePayload } from './message.ts';

declare module '../../core/events.ts' {
  interface EventPayloads {
    /** It was accepted to be sent later, or its time was changed. */
    'message.scheduled': MessagePayload & { readonly scheduled_at: string };
    'message.queued': MessagePayload;
    'message.sent': MessagePayload & { readonly details?: MessageDetails };
    'message.delivered': MessagePayload;
    'message.read': MessagePayload;
    'message.failed': MessagePayload;
    /** Cancelled before it was sent, because its channel was disconnected, its contact erased, or by a caller. */
    'message.cancelled': MessagePayload;
    /** `is_answerable` is false for what no bot may answer: group chats, calls, threads that another app has. */
    'message.received': MessagePayload & {
      /** As it is with the message; missing in a group chat. */
      readonly conversation?: PublicConversation;
      readonly details?: MessageDetails;
      readonly is_answerable?: false;
    };
    /** Its author changed it; also a call that went on. The message is as it is now, `previous` as it was. */
    'message.edited': MessagePayload & {
      readonly previous: Pick<EventMessage, 'message' | 'content'>;
      readonly edited_at: string;
    };
    /** Revoked by its author. Its content is kept. */
    'message.revoked': MessagePayload & { readonly revoked_at: string };
    /** A reaction to the message was added, or removed (`emoji` null). */
    'message.reaction': MessagePayload & {
      readonly reaction: {
        readonly contact_id: number;
        readonly direction: 'inbound' | 'outbound';
        readonly emoji: string | null;
        readonly occurred_at: string;
      };
    };
  }
}
