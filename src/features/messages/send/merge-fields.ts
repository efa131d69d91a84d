import { countryOf } from '../../../schema/countries/country.ts';
import { fullName, type PublicContact } from '../../contacts/contact.ts';

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

/** The unknown merge fields of a text. */
export const unknownFields = (text: string): string[] =>
  [...text.matchAll(FIELD)].map(match => match[1] ?? '').filter(name => !Object.hasOwn(FIELDS, name));

/** Replaces merge fields such as `@{contact_first_name}` in one pass: values are not searched for merge fields. */
export const mergeFields = (text: string, person: Person): string =>
  text.replace(FIELD, (whole, name: string) => (Object.hasOwn(FIELDS, name) ? (FIELDS[name]?.(person) ?? '') : whole));

/** The text with all merge fields removed: the shortest that it can become. */
export const unmerged = (text: string): string => text.replace(FIELD, '');
