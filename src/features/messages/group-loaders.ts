import { loader } from '../../schema/loaders.ts';
import { getGroupChatsOf, getLastOfGroupChats } from './thread.sql.ts';

/** The last message of group chats: its id and time; undefined where there is none. */
export const lastOfGroupChatLoader = loader<
  number,
  { readonly message_id: string; readonly created_at: string } | undefined
>(async (db, tenantId, ids) => {
  const byId = new Map((await getLastOfGroupChats(db, tenantId, ids)).map(row => [row.group_chat_id, row]));
  return ids.map(id => byId.get(id));
});

/** The group chat of a message; null for one in a conversation. */
export const groupChatIdLoader = loader<string, number | null>(async (db, tenantId, ids) => {
  const byId = new Map((await getGroupChatsOf(db, tenantId, ids)).map(row => [row.id, row.group_chat_id]));
  return ids.map(id => byId.get(id) ?? null);
});
