import type { PublicGroupChat } from './group-chats.sql.ts';
import type { PublicOwnership } from './owners.sql.ts';

declare module '../../core/events.ts' {
  interface EventPayloads {
    /** Another app took over the conversation, or handed it back. */
    'conversation.updated': { readonly conversation: PublicOwnership };
    /** The network reported settings or participants of a group chat. */
    'group_chat.updated': {
      readonly group_chat: PublicGroupChat;
      readonly added_contact_ids: readonly number[];
      readonly removed_contact_ids: readonly number[];
    };
  }
}
