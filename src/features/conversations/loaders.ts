import { loader, rowLoader } from '../../schema/loaders.ts';
import { getGroupChats, getParticipants } from './group-chats.sql.ts';
import { getConversations } from './state.sql.ts';
import { getTags } from './tags/store.ts';

export const conversationLoader = rowLoader((db, tenantId, ids: readonly number[]) =>
  getConversations(db, tenantId, ids),
);
export const tagLoader = rowLoader(getTags);
export const groupChatLoader = rowLoader(getGroupChats);

/** The keys of the contacts in a group chat. */
export const participantsLoader = loader<number, readonly number[]>(async (db, tenantId, ids) => {
  const members = Map.groupBy(await getParticipants(db, tenantId, ids), ({ group_chat_id }) => group_chat_id);
  return ids.map(id => (members.get(id) ?? []).map(({ contact_id }) => contact_id));
});
