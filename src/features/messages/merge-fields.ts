import { fullName, type PublicContact } from '../contacts/contact.ts';
import { countryOf } from '../countries/country.ts';

type Person = Pick<
  PublicContact,
  'firstname' | 'lastname' | 'email' | 'phone' | 'company' | 'city' | 'state' | 'country_id'
>;

const FIELDS: Readonly<Record<string, (person: Person) => string | null>> = {
  contact_first_name: person => person.firstname,
  contact_last_name: person => person.lastname,
  contact_full_name: person => fullName(person),
  contact_email: person => person.email,
  contact_phone: person => person.phone,
  contact_company: person => person.company,
  contact_city: person => person.city,
  contact_state: person => person.state,
  contact_country: person => (person.country_id === null ? null : (countryOf(person.country_id)?.name ?? null)),
};

export const MERGE_FIELDS = Object.keys(FIELDS);

const FIELD = /@\{([^{}\n]{1,64})\}/g;

/** The merge fields of a text that do not exist. */
export const unknownFields = (text: string): string[] =>
  [...text.matchAll(FIELD)].map(match => match[1] ?? '').filter(name => !Object.hasOwn(FIELDS, name));

/** Fills `@{contact_first_name}` and the like; an empty value gives an empty string. Merged values are never merged again: it is one pass. */
export const mergeFields = (text: string, person: Person): string =>
  text.replace(FIELD, (whole, name: string) => (Object.hasOwn(FIELDS, name) ? (FIELDS[name]?.(person) ?? '') : whole));

/** The shortest that a text can become: every merge field is empty. */
export const unmerged = (text: string): string => text.replace(FIELD, '');
