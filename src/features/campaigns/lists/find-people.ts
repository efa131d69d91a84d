import { callerOf } from '../../../core/principal.ts';
import { identitySpellings, type Phone, parsePhone, parsePhoneIn } from '../../../platform/phone.ts';
import type { Context } from '../../../schema/context.ts';
import { MAX_BATCH } from '../../contacts/batch.ts';
import type { ContactInput } from '../../contacts/contact.ts';
import { createContacts } from '../../contacts/create-batch.ts';
import type { ListError, ListedContact } from './list-row.ts';
import { contactsOfKeys } from './rows.sql.ts';

/** A row as it was uploaded. */
export interface GivenPerson {
  readonly rowNumber: number;
  readonly phone: string;
  /** Of the contact, if the upload creates it. */
  readonly fields: Omit<ContactInput, 'phone'>;
  readonly values: Readonly<Record<string, string>>;
}

export interface FoundPeople {
  readonly people: readonly ListedContact[];
  readonly errors: readonly ListError[];
}

/**
 * Finds the contacts of numbers, and creates those that do not exist, within the plan. Contacts that exist are not changed. National
 * numbers are read in the account's country.
 */
export async function findPeople(context: Context, given: readonly GivenPerson[]): Promise<FoundPeople> {
  const { tenant } = callerOf(context);
  const errors: ListError[] = [];
  const numbered: { person: GivenPerson; phone: Phone }[] = [];
  for (const person of given) {
    const phone = parsePhoneIn(person.phone, tenant.defaultCountry) ?? parsePhone(person.phone);
    if (phone) numbered.push({ person, phone });
    else errors.push({ row_number: person.rowNumber, message: 'Has no valid phone number.' });
  }
  const byKey = await holdersOf(context, tenant.id, numbered);
  const missing = numbered.filter(({ phone }) => !byKey.has(phone.key));
  for (let from = 0; from < missing.length; from += MAX_BATCH) {
    const batch = missing.slice(from, from + MAX_BATCH);
    const contacts = batch.map(({ person, phone }) => ({ ...person.fields, phone: phone.e164 }));
    const { results } = await createContacts(context, { contacts, skipDuplicates: true });
    for (const { index, contact, outcome, userErrors } of results) {
      const { person, phone } = batch[index] as (typeof batch)[number];
      if (contact) byKey.set(phone.key, contact.id);
      if (outcome === 'failed')
        errors.push({
          row_number: person.rowNumber,
          message: userErrors.map(({ path, message }) => `${path.at(-1) ?? ''}: ${message}`).join(' '),
        });
    }
  }
  // Another request may have created some of them meanwhile.
  const late = missing.filter(({ phone }) => !byKey.has(phone.key));
  for (const [key, id] of await holdersOf(context, tenant.id, late)) byKey.set(key, id);
  const people = numbered.flatMap(({ person: { rowNumber, values }, phone }): ListedContact[] => {
    const contactId = byKey.get(phone.key);
    return contactId === undefined ? [] : [{ contactId, rowNumber, values }];
  });
  return { people, errors };
}

async function holdersOf(
  { db }: Context,
  tenantId: number,
  numbered: readonly { readonly phone: Phone }[],
): Promise<Map<string, number>> {
  if (numbered.length === 0) return new Map();
  const keys = [...new Set(numbered.map(({ phone }) => phone.key))];
  const spelled = keys.flatMap(key => identitySpellings(key).map(text => ({ text, key })));
  return contactsOfKeys(db.write, tenantId, keys, {
    texts: spelled.map(({ text }) => text),
    keys: spelled.map(({ key }) => key),
  });
}
