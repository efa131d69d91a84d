import type { Context } from '../../context.ts';
import { CodedError, FieldErrorList, notFound } from '../../errors.ts';
import { tenantOf } from '../caller.ts';
import { parseContact } from '../contacts/contact.ts';
import { createContact } from '../contacts/create.ts';
import { changeContact } from '../contacts/update.ts';
import { changeMembers } from '../labels/members.ts';
import { contactByPhone, type KnownContact } from './acts-store.ts';
import type { Customer } from './order.ts';

const MAX_NAME = 255;

/** What of an order can be kept of a person: names are cut, and what is no e-mail address is none. */
export function contactFieldsOf({ firstName, lastName, email }: Customer) {
  const cut = (text: string): string => [...text].slice(0, MAX_NAME).join('');
  const errors = new FieldErrorList();
  if (email !== null) parseContact({ email }, errors);
  return { firstName: cut(firstName), lastName: cut(lastName), email: errors.isEmpty ? email : null };
}

/**
 * The contact who ordered: found by phone number, and made where there is none. Names and e-mail address fill what is
 * empty, and overwrite nothing. An e-mail address that another contact has is left out.
 *
 * @returns the contact's id
 * @throws FEATURE_LIMIT_EXCEEDED when the plan has no room for another contact
 */
export async function recogniseCustomer(context: Context, customer: Customer): Promise<number> {
  const find = () => contactByPhone(context.db.write, tenantOf(context), customer.phone.key);
  const known = await find();
  if (known) return complete(context, known, customer);
  const fields = { ...contactFieldsOf(customer), phone: customer.phone.e164 };
  try {
    return (await withoutTakenEmail(fields, input => createContact(context, input))).id;
  } catch (error) {
    // Somebody else has made it meanwhile.
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

/** Puts a contact into groups; one that has gone since the mapping was read is passed over. */
export async function joinGroups(context: Context, contactId: number, groupIds: readonly number[]): Promise<void> {
  for (const groupId of groupIds) {
    await changeMembers(context, 'add', { groupId, contactIds: [contactId] }).catch((error: unknown) => {
      if (!(error instanceof CodedError) || error.message !== notFound('Group').message) throw error;
    });
  }
}
