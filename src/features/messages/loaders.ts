import type { Db } from '../../database/database.ts';
import { loader, valueLoader } from '../../schema/loaders.ts';
import type { StoredMedia } from './content/media/file.ts';
import { getMediaByNetworkId } from './content/media/store.ts';
import type { MessageRow } from './message.ts';
import { getContactWindows, getMessages, getMessagesByWamid, getWindows } from './messages.sql.ts';

/** Messages by the network's id. */
export const messageByWamidLoader = loader<string, MessageRow | undefined>(async (db, tenantId, wamids) => {
  const byWamid = new Map((await getMessagesByWamid(db, tenantId, wamids)).map(row => [row.wamid, row]));
  return wamids.map(wamid => byWamid.get(wamid));
});

/** The end of the service window of each conversation. */
export const windowLoader = valueLoader<string | null>(getWindows, null);

/** The end of each contact's service window on the default channel. */
export const contactWindowLoader = valueLoader<string | null>(getContactWindows, null);

/** Uploads by the network's id of their file. */
export const uploadLoader = loader<string, StoredMedia | undefined>(async (db, tenantId, ids) => {
  const byId = new Map((await getMediaByNetworkId(db, tenantId, ids)).map(row => [row.network_media_id, row]));
  return ids.map(id => byId.get(id));
});

/** One message, unbatched: for transactions and other features. */
export const findMessage = async (db: Db, tenantId: number, id: string): Promise<MessageRow | undefined> =>
  (await getMessages(db, tenantId, [id]))[0];
