import { callerOf } from '../../../core/principal.ts';
import { identitySpellings, type Phone, parsePhone, parsePhoneIn } from '../../../platform/phone.ts';
import type { Context } from '../../../schema/context.ts';
import { type BatchResult, MAX_BATCH } from '../../contacts/batch.ts';
import type { ContactInput } from '../../contacts/contact.ts';
import { checkContacts, createContacts } from '../../contacts/create-batch.ts';
import type { ListError, ListedContact } from './list-row.ts';
import { contactsOfKeys } from './rows.sql.ts';

/** A row as it was uploaded. */
export interface UploadedPerson {
  readonly rowNumber: number;
  readonly phone: string;
  /** Of the contact, if the upload creates it. */
  readonly fields: Omit<ContactInput, 'phone'>;
  readonly values: Readonly<Record<string, string>>;
}

export interface MatchedContacts {
  readonly people: readonly ListedContact[];
  readonly errors: readonly ListError[];
}

interface Numbered {
  readonly person: UploadedPerson;
  readonly phone: Phone;
}

interface Lookup {
  readonly numbered: readonly Numbered[];
  /** Contacts by the key of their number. */
  readonly byKey: Map<string, number>;
  /** People whose number no contact has. */
  readonly missing: readonly Numbered[];
  readonly errors: ListError[];
}

/** Reads the numbers, national ones in the account's country, and finds their contacts. */
async function lookUp(context: Context, given: readonly UploadedPerson[]): Promise<Lookup> {
  const { tenant } = callerOf(context);
  const errors: ListError[] = [];
  const numbered: Numbered[] = [];
  for (const person of given) {
    const phone = parsePhoneIn(person.phone, tenant.defaultCountry) ?? parsePhone(person.phone);
    if (phone) numbered.push({ person, phone });
    else errors.push({ row_number: person.rowNumber, message: 'Has no valid phone number.' });
  }
  const byKey = await holdersOf(context, tenant.id, numbered);
  return { numbered, byKey, missing: numbered.filter(({ phone }) => !byKey.has(phone.key)), errors };
}

const contactOf = ({ person, phone }: Numbered): ContactInput => ({ ...person.fields, phone: phone.e164 });

const messageOf = ({ userErrors }: BatchResult): string =>
  userErrors.map(({ path, message }) => `${path.at(-1) ?? ''}: ${message}`).join(' ');

/**
 * Finds the contacts of numbers, and creates those that do not exist, within the plan. Contacts that exist are not changed. National
 * numbers are read in the account's country.
 */
export async function matchContacts(context: Context, given: readonly UploadedPerson[]): Promise<MatchedContacts> {
  const { tenant } = callerOf(context);
  const { numbered, byKey, missing, errors } = await lookUp(context, given);
  const failed = new Map<Numbered, string>();
  for (let from = 0; from < missing.length; from += MAX_BATCH) {
    const batch = missing.slice(from, from + MAX_BATCH);
    const { results } = await createContacts(context, { contacts: batch.map(contactOf), skipDuplicates: true });
    for (const result of results) {
      const one = batch[result.index] as Numbered;
      if (result.contact) byKey.set(one.phone.key, result.contact.id);
      if (result.outcome === 'failed') failed.set(one, messageOf(result));
    }
  }
  // Another request may have created some of them meanwhile.
  const late = missing.filter(({ phone }) => !byKey.has(phone.key));
  for (const [key, id] of await holdersOf(context, tenant.id, late)) byKey.set(key, id);
  const faults = faultsOf(numbered, byKey, failed);
  const people = numbered.flatMap((one): ListedContact[] => {
    const { rowNumber, values } = one.person;
    const contactId = faults.has(one) ? undefined : byKey.get(one.phone.key);
    return contactId === undefined ? [] : [{ contactId, rowNumber, values }];
  });
  return { people, errors: [...errors, ...listed(faults)] };
}

/** A person whom an upload would find or create. */
export interface PreviewedPerson {
  readonly person: UploadedPerson;
  readonly phone: string;
  /** Null: would be created. */
  readonly contactId: number | null;
  /** In an earlier row as well. */
  readonly isDuplicate: boolean;
}

/** Dry run of `matchContacts`: writes nothing. */
export async function previewMatches(
  context: Context,
  given: readonly UploadedPerson[],
): Promise<{ readonly people: readonly PreviewedPerson[]; readonly errors: readonly ListError[] }> {
  const { numbered, byKey, missing, errors } = await lookUp(context, given);
  const failed = new Map<Numbered, string>();
  const known = new Set(byKey.keys());
  for (const result of await checkContacts(context, missing.map(contactOf))) {
    const one = missing[result.index] as Numbered;
    if (result.outcome === 'created') known.add(one.phone.key);
    if (result.outcome === 'failed') failed.set(one, messageOf(result));
  }
  const faults = faultsOf(numbered, known, failed);
  const seen = new Set<string | number>();
  const people = numbered
    .filter(one => !faults.has(one))
    .map(({ person, phone }): PreviewedPerson => {
      const contactId = byKey.get(phone.key) ?? null;
      const identity = contactId ?? phone.key;
      const isDuplicate = seen.has(identity);
      seen.add(identity);
      return { person, phone: phone.e164, contactId, isDuplicate };
    });
  return { people, errors: [...errors, ...listed(faults)] };
}

/**
 * Faults of the rows whose contact could not be created. A further row of the same person has its fault, unless that row
 * created the contact.
 * @param known keys of the numbers of contacts that exist
 */
function faultsOf(
  numbered: readonly Numbered[],
  known: { has(key: string): boolean },
  failed: ReadonlyMap<Numbered, string>,
): ReadonlyMap<Numbered, string> {
  const byKey = new Map([...failed].map(([{ phone }, message]) => [phone.key, message]));
  return new Map(
    numbered.flatMap((one): (readonly [Numbered, string])[] => {
      const { key } = one.phone;
      const message = failed.get(one) ?? (known.has(key) ? undefined : (byKey.get(key) ?? 'The contact was deleted.'));
      return message === undefined ? [] : [[one, message]];
    }),
  );
}

const listed = (faults: ReadonlyMap<Numbered, string>): ListError[] =>
  [...faults].map(([{ person }, message]) => ({ row_number: person.rowNumber, message }));

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
