import type { Db } from '../../database/database.ts';
import { listIdsOfContact } from './erase.sql.ts';
import { type PublicMessage, publicMessage } from './message.ts';
import { getMessages } from './messages.sql.ts';

/** Messages of a contact in the order of their ids, in the format of events. @param after the last id of the previous page */
export async function messagesOf(
  db: Db,
  tenantId: number,
  contactId: number,
  after: string | null,
  limit: number,
): Promise<(PublicMessage & Record<string, unknown>)[]> {
  const ids = await listIdsOfContact(db, tenantId, contactId, after, limit);
  const rows = new Map((await getMessages(db, tenantId, ids)).map(row => [row.id, row]));
  return ids.flatMap(id => {
    const row = rows.get(id);
    return row ? [{ ...publicMessage(row) }] : [];
  });
}
