import type { Db } from '../../platform/database.ts';
import type { MessageRow } from './message.ts';
import { getMessages } from './store.ts';

/** One message by our id: for verbs of other features that sent it. */
export const findMessage = async (db: Db, tenantId: number, id: string): Promise<MessageRow | undefined> =>
  (await getMessages(db, tenantId, [id]))[0];
