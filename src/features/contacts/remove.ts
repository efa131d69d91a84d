import type { Context } from '../../context.ts';
import { invalid, notFound } from '../../errors.ts';
import { append } from '../../events.ts';
import { tenantOf } from '../caller.ts';
import { forgetPeople } from '../integrations/forget.ts';
import type { ContactRow } from './contact.ts';
import { deleteContacts, lockRoom } from './store.ts';

const MAX_BATCH = 1_000;

export interface RemovedContacts {
  readonly deleted: readonly ContactRow[];
  readonly notFoundIds: readonly number[];
}

/**
 * Removes contacts with their conversations, messages (queued ones are not sent any more), memberships and what shops told of them: what a person
 * may demand under data protection law. Ids that do not exist are reported.
 */
export async function removeContacts(context: Context, ids: readonly number[]): Promise<RemovedContacts> {
  const tenantId = tenantOf(context);
  const wanted = [...new Set(ids)];
  if (wanted.length === 0 || wanted.length > MAX_BATCH) throw invalid({ ids: [`Takes 1 to ${MAX_BATCH} ids.`] });
  const deleted = await context.db.transaction(async trx => {
    await lockRoom(trx, tenantId);
    const contacts = await deleteContacts(trx, tenantId, wanted);
    await forgetPeople(trx, tenantId, contacts, new Date(context.clock.now()).toISOString());
    await append(
      trx,
      tenantId,
      contacts.map(contact => ({ type: 'contact.deleted', payload: { contact } })),
    );
    return contacts;
  });
  context.signals.send('events');
  const gone = new Set(deleted.map(contact => contact.id));
  return { deleted, notFoundIds: wanted.filter(id => !gone.has(id)) };
}

/** Removes one contact. @throws NOT_FOUND */
export async function removeContact(context: Context, id: number): Promise<ContactRow> {
  const { deleted } = await removeContacts(context, [id]);
  if (!deleted[0]) throw notFound('Contact');
  return deleted[0];
}
