import type { ConversationBefore, PublicConversation } from './conversation.ts';
import type { PublicGroupChat } from './group-chats.sql.ts';
import type { PublicOwnership } from './owners.sql.ts';

declare module '../../core/events.ts' {
  interface EventPayloads {
    /** By the first message in either direction, or restored by the undo of a merge. */
    'conversation.created': { readonly conversation: PublicConversation };
    /**
     * Status, assignee, tags or unread count were changed (`previous` has the former values), or another app took over the
     * conversation or handed it back (`conversation` has the owner), or contacts were merged: a conversation that is another contact's now
     * has `previous.contact_id`, one that was folded into another one `previous.id`, with `conversation` as the one that it became. What
     * messages change is in the events of the messages.
     */
    'conversation.updated': {
      readonly conversation: PublicConversation & Partial<PublicOwnership>;
      readonly previous?: ConversationBefore;
    };
    /** Its contact was deleted, as `contact.deleted` of the same transaction tells. */
    'conversation.deleted': { readonly conversation: PublicConversation };
    /** The network reported settings or participants of a group chat. */
    'group_chat.updated': {
      readonly group_chat: PublicGroupChat;
      readonly added_contact_ids: readonly number[];
      readonly removed_contact_ids: readonly number[];
    };
  }
}
