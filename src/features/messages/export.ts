import type { Filter } from '../../core/list-args.ts';
import type { Db } from '../../database/database.ts';
import { listIdsOfContact } from './erase.sql.ts';
import { examineMessages } from './export-page.sql.ts';
import { messagesWhere } from './list.ts';
import { type EventMessage, eventMessage, eventName, MESSAGE_COLUMNS } from './message.ts';
import { getMessages } from './messages.sql.ts';
import { payloadsOf } from './people.sql.ts';

/** Messages of a contact in the order of their ids, in the format of events. @param after the last id of the previous page */
export async function messagesOf(
  db: Db,
  tenantId: number,
  contactId: number,
  after: string | null,
  limit: number,
): Promise<(EventMessage & Record<string, unknown>)[]> {
  const ids = await listIdsOfContact(db, tenantId, contactId, after, limit);
  const rows = new Map((await getMessages(db, tenantId, ids)).map(row => [row.id, row]));
  return ids.flatMap(id => {
    const row = rows.get(id);
    return row ? [{ ...eventMessage(row) }] : [];
  });
}

/** Checks the filter of an export. @throws VALIDATION_ERROR as the list */
export const checkMessageFilter = (tenantId: number, filter: Filter): void => void messagesWhere(tenantId, filter);

const PEOPLE_COLUMNS = ['contact_firstname', 'contact_lastname', 'contact_phone'] as const;

/**
 * The messages that meet a filter, among the next `limit` after an id, in the format of events, with the people's names and numbers.
 * @returns `last`: the last id that was examined; null at the end
 */
export async function messagesPage(db: Db, tenantId: number, filter: Filter, after: string | null, limit: number) {
  const { ids, last } = await examineMessages(db, tenantId, filter, after, limit);
  const found = ids.length === 0 ? [] : await getMessages(db, tenantId, ids);
  const payloadOf = await payloadsOf(db, tenantId, found);
  const payloads = new Map(found.map(row => [row.id, payloadOf(row)]));
  const rows = ids.flatMap(id => {
    const payload = payloads.get(id);
    if (!payload) return [];
    const { message, contact } = payload;
    return {
      ...message,
      contact_firstname: contact?.firstname ?? null,
      contact_lastname: contact?.lastname ?? null,
      contact_phone: contact?.phone ?? null,
    };
  });
  return {
    columns: [...MESSAGE_COLUMNS.map(eventName), ...PEOPLE_COLUMNS],
    rows,
    contactIds: rows.map(({ contact_id: contactId }) => contactId),
    last,
  };
}
