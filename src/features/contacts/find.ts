import { parseId } from '../../core/global-ids.ts';
import { tenantOf } from '../../core/principal.ts';
import type { Db } from '../../database/database.ts';
import type { Context } from '../../schema/context.ts';
import { oneOf } from '../../schema/one-of.ts';
import { type ContactRow, phoneOf } from './contact.ts';
import { findContacts, findEmailHolder, findNumberHolders, findUserIdHolder } from './store.ts';

/** Exactly one of the keys has a value. */
export interface ContactIdentifier {
  readonly id?: string | null | undefined;
  readonly phone?: string | null | undefined;
  readonly email?: string | null | undefined;
  readonly userId?: string | null | undefined;
}

/**
 * Finds a contact by one identifier: the id of a merged contact, and any present number or user id of a person, find the contact that
 * the person is now. @returns null for an unknown or malformed identifier
 * @throws VALIDATION_ERROR unless there is exactly one
 */
export async function findContact(context: Context, identifier: ContactIdentifier): Promise<ContactRow | null> {
  const tenantId = tenantOf(context);
  const id = await idOf(context, tenantId, identifier);
  return (id !== undefined && (await findContacts(context.db.read, tenantId, [id])).get(id)) || null;
}

/** The contact who has a business-scoped user id now. */
export const contactOfUserId: (db: Db, tenantId: number, userId: string) => Promise<number | undefined> =
  findUserIdHolder;

async function idOf({ db }: Context, tenantId: number, identifier: ContactIdentifier): Promise<number | undefined> {
  const { field, value } = oneOf(identifier, 'identifier');
  switch (field) {
    case 'id':
      return parseId(tenantId, 'Contact', value);
    case 'phone': {
      const phone = phoneOf(value);
      return phone && (await findNumberHolders(db.read, tenantId, [phone.key])).get(phone.key);
    }
    case 'email':
      return await findEmailHolder(db.read, tenantId, value.trim());
    case 'userId':
      return await findUserIdHolder(db.read, tenantId, value.trim());
  }
}
