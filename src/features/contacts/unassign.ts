import { append } from '../../events.ts';
import type { Db } from '../../platform/database.ts';
import { unassignSome } from './store.ts';

/** So many contacts, with their events, are held in memory at a time. */
const CHUNK = 1_000;

/** Takes an assignee off all contacts, in the caller's transaction. @returns how many there were */
export async function unassignContacts(trx: Db, tenantId: number, staffId: number): Promise<number> {
  let count = 0;
  for (;;) {
    const contacts = await unassignSome(trx, tenantId, staffId, CHUNK);
    const previous = { assigned_id: staffId };
    await append(
      trx,
      tenantId,
      contacts.map(contact => ({ type: 'contact.updated', payload: { contact, previous } })),
    );
    count += contacts.length;
    if (contacts.length < CHUNK) return count;
  }
}
