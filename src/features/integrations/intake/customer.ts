import { CodedError, FieldErrorList, notFound } from '../../../core/errors.ts';
import { tenantOf } from '../../../core/principal.ts';
import type { Context } from '../../../schema/context.ts';
import { parseContact } from '../../contacts/contact.ts';
import { createContact } from '../../contacts/create.ts';
import { changeMembers } from '../../contacts/labels/members.ts';
import { changeContact } from '../../contacts/update.ts';
import { contactByPhone, type KnownContact } from '../orders/acts.sql.ts';
import type { Customer } from '../orders/order.ts';

const MAX_NAME = 255;

/** The storable part of a customer's data: names are truncated, invalid e-mail addresses dropped. */
export function contactFieldsOf({ firstName, lastName, email }: Customer) {
  const cut = (text: string): string => [...text].slice(0, MAX_NAME).join('');
  const errors = new FieldErrorList();
  if (email !== null) parseContact({ email }, errors);
  return { firstName: cut(firstName), lastName: cut(lastName), email: errors.isEmpty ? email : null };
}

/**
 * Finds the customer's contact by phone number, or creates it. Name and e-mail address fill empty fields and overwrite nothing.
 * An e-mail address that belongs to another contact is left out.
 *
 * @returns the contact's id
 * @throws FEATURE_LIMIT_EXCEEDED if the plan allows no further contact
 */
export async function recogniseCustomer(context: Context, customer: Customer): Promise<number> {
  const find = () => contactByPhone(context.db.write, tenantOf(context), customer.phone.key);
  const known = await find();
  if (known) return complete(context, known, customer);
  const fields = { ...contactFieldsOf(customer), phone: customer.phone.e164 };
  try {
    return (await withoutTakenEmail(fields, input => createContact(context, input))).id;
  } catch (error) {
    // A concurrent request has created it.
    const made = isRefused(error, 'phone') ? await find() : undefined;
    if (!made) throw error;
    return complete(context, made, customer);
  }
}

async function complete(context: Context, known: KnownContact, customer: Customer): Promise<number> {
  const { firstName, lastName, email } = contactFieldsOf(customer);
  const missing = {
    ...(known.firstname === '' && firstName !== '' && { firstName }),
    ...(known.lastname === '' && lastName !== '' && { lastName }),
    ...(known.email === null && email !== null && { email }),
  };
  if (Object.keys(missing).length > 0)
    await withoutTakenEmail(missing, input => changeContact(context, known.id, input));
  return known.id;
}

async function withoutTakenEmail<Input extends { readonly email?: string | null }, T>(
  input: Input,
  write: (input: Omit<Input, 'email'> & { email?: string }) => Promise<T>,
): Promise<T> {
  const { email, ...others } = input;
  try {
    return await write({ ...others, ...(email != null && { email }) });
  } catch (error) {
    if (!isRefused(error, 'email') || isRefused(error, 'phone')) throw error;
    return write(others);
  }
}

const isRefused = (error: unknown, field: string): boolean =>
  error instanceof CodedError && error.code === 'VALIDATION_ERROR' && Object.hasOwn(error.details ?? {}, field);

/** Adds a contact to groups; groups deleted since the mapping was read are skipped. */
export async function joinGroups(context: Context, contactId: number, groupIds: readonly number[]): Promise<void> {
  for (const groupId of groupIds) {
    await changeMembers(context, 'add', { groupId, contactIds: [contactId] }).catch((error: unknown) => {
      if (!(error instanceof CodedError) || error.message !== notFound('Group').message) throw error;
    });
  }
}
