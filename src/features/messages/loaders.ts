import { isUuid } from '../../core/ids.ts';
import type { Db } from '../../database/database.ts';
import { loader, rowLoader, rowLoaderBy, valueLoader } from '../../schema/loaders.ts';
import { type Edit, getAdditions, getEdits, getReactions, type NetworkKey, type Reaction } from './additions.sql.ts';
import type { FileState } from './content/media/file.ts';
import { getFileStates } from './content/media/files.sql.ts';
import { getMedia } from './content/media/store.ts';
import { type MessageRow, wamidKey } from './message.ts';
import { getContactWindows, getMessages, getMessagesByWamid, getWindows } from './messages.sql.ts';
import { getGroupChatsOf, getLastOfGroupChats } from './thread.sql.ts';

/** Messages by id. */
export const messageLoader = rowLoader(getMessages);

/** Messages by the network's id. */
export const messageByWamidLoader = rowLoaderBy('wamid', getMessagesByWamid);

/** The end of the service window of each conversation. */
export const windowLoader = valueLoader<string | null>(getWindows, null);

/** The end of each contact's service window on the default channel. */
export const contactWindowLoader = valueLoader<string | null>(getContactWindows, null);

/** State of the file of a message; keys: the message's id and the network's id of its file, separated by a space. */
export const fileStateLoader = loader<string, FileState | undefined>(async (db, tenantId, keys) => {
  const messages = keys.map(key => ({ id: key.slice(0, UUID_LENGTH), networkId: key.slice(UUID_LENGTH + 1) }));
  const byId = new Map((await getFileStates(db, tenantId, messages)).map(row => [row.message_id, row]));
  return messages.map(({ id }) => byId.get(id));
});
const UUID_LENGTH = 36;

/** State of an upload that no message uses yet, by its id. */
export const uploadLoader = loader<string, FileState | undefined>(async (db, tenantId, ids) => {
  const byId = new Map((await getMedia(db, tenantId, ids.filter(isUuid))).map(row => [row.id, row]));
  return ids.map(id => {
    const row = byId.get(id);
    if (row?.state !== 'stored') return undefined;
    const { mime_type, size, sha256, filename, lives_for_ms } = row;
    return {
      message_id: id,
      state: null,
      mime_type,
      size,
      sha256,
      upload_id: id,
      upload_filename: filename,
      lives_for_ms,
    };
  });
});

/** Additions of messages; undefined where there are none. */
export const additionsLoader = rowLoaderBy('message_id', getAdditions);

/** The key of what names a message by its id on the network; null while the network has none. */
export const networkKeyOf = ({ channel_id, wamid }: Pick<MessageRow, 'channel_id' | 'wamid'>): string | null =>
  wamid === null ? null : wamidKey(channel_id, wamid);

type OfMessage = { readonly channel_id: number; readonly original_wamid: string };

/** Rows that name messages by their ids on the network, by `networkKeyOf`. */
const rowsByNetworkKey = <Row extends OfMessage>(
  read: (db: Db, tenantId: number, keys: readonly NetworkKey[]) => Promise<Row[]>,
) =>
  loader<string, readonly Row[]>(async (db, tenantId, keys) => {
    const rows = await read(
      db,
      tenantId,
      keys.map(key => ({ channelId: Number.parseInt(key, 10), wamid: key.slice(key.indexOf(' ') + 1) })),
    );
    const byKey = Map.groupBy(rows, row => networkKeyOf({ channel_id: row.channel_id, wamid: row.original_wamid }));
    return keys.map(key => byKey.get(key) ?? []);
  });

export const reactionsLoader = rowsByNetworkKey<Reaction>(getReactions);
export const editsLoader = rowsByNetworkKey<Edit>(getEdits);

/** The last message of group chats: its id and time; undefined where there is none. */
export const lastOfGroupChatLoader = rowLoaderBy('group_chat_id', getLastOfGroupChats);

/** The group chat of a message; null for one in a conversation. */
export const groupChatIdLoader = loader<string, number | null>(async (db, tenantId, ids) => {
  const byId = new Map((await getGroupChatsOf(db, tenantId, ids)).map(row => [row.id, row.group_chat_id]));
  return ids.map(id => byId.get(id) ?? null);
});

/** One message, unbatched: for transactions and other features. */
export const findMessage = async (db: Db, tenantId: number, id: string): Promise<MessageRow | undefined> =>
  (await getMessages(db, tenantId, [id]))[0];
