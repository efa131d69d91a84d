import { invalid, notFound } from '../../core/errors.ts';
import { tenantOf } from '../../core/principal.ts';
import type { Context } from '../../schema/context.ts';
import { authorOf } from '../tenancy/audit/author.ts';
import type { ContactRow } from './contact.ts';
import { eraseContacts } from './erasure/erase.ts';

const MAX_BATCH = 1_000;

export interface RemovedContacts {
  readonly deleted: readonly ContactRow[];
  readonly notFoundIds: readonly number[];
}

/** Erases contacts, as `eraseContacts` does. Ids that do not exist are reported. */
export async function removeContacts(context: Context, ids: readonly number[]): Promise<RemovedContacts> {
  const contactIds = [...new Set(ids)];
  if (contactIds.length === 0 || contactIds.length > MAX_BATCH)
    throw invalid({ ids: [`Takes 1 to ${MAX_BATCH} ids.`] });
  const request = { contactIds, reason: 'other', author: authorOf(context) } as const;
  const { contacts, found } = await eraseContacts(context, tenantOf(context), request);
  return { deleted: contacts, notFoundIds: contactIds.filter(id => !found.has(id)) };
}

/** Erases one contact. @throws NOT_FOUND */
export async function removeContact(context: Context, id: number): Promise<ContactRow> {
  const { deleted } = await removeContacts(context, [id]);
  if (!deleted[0]) throw notFound('Contact');
  return deleted[0];
}
