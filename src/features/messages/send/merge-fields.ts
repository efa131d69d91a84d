import { countryOf } from '../../../platform/countries.ts';
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

const FILLED =
  'Merge fields such as `@{contact_first_name|there}` are filled from the contact; one without a value becomes what follows `|`';
/** How merge fields are filled in a send, for descriptions. */
export const MERGED_IN_SEND = `${FILLED}, and without that the send is rejected.`;
/** How merge fields are filled in what the gateway sends by itself (`removesEmptyFields`), for descriptions. */
export const MERGED_IN_REPLY = `${FILLED}, or nothing.`;

/** `@{name}` or `@{name|fallback}`. */
const FIELD = /@\{([^{}\n|]{1,64})(?:\|([^{}\n]*))?\}/g;

/** Values of further merge fields by name, which the sender has for this person. */
type OtherValues = Readonly<Record<string, string>>;
const NO_OTHERS: OtherValues = {};

const isKnown = (name: string, others: OtherValues): boolean =>
  Object.hasOwn(FIELDS, name) || Object.hasOwn(others, name);

const valueFor = (name: string, person: Person, others: OtherValues): string | undefined =>
  (Object.hasOwn(FIELDS, name)
    ? FIELDS[name]?.(person)
    : Object.hasOwn(others, name)
      ? others[name]
      : undefined
  )?.trim() || undefined;

/** The unknown merge fields of a text. */
export const unknownFields = (text: string, others: OtherValues = NO_OTHERS): string[] =>
  [...text.matchAll(FIELD)].map(match => match[1] ?? '').filter(name => !isKnown(name, others));

/** The merge fields of a text that have neither a value for this person nor a fallback. */
export const emptyFields = (text: string, person: Person, others: OtherValues = NO_OTHERS): string[] => [
  ...new Set(
    [...text.matchAll(FIELD)]
      .filter(([, name = '', fallback]) => fallback === undefined && valueFor(name, person, others) === undefined)
      .map(([, name = '']) => name),
  ),
];

/**
 * Replaces merge fields such as `@{contact_first_name|there}` in one pass: values are not searched for merge fields. A field
 * without a value is replaced by its fallback, or removed.
 */
export const mergeFields = (text: string, person: Person, others: OtherValues = NO_OTHERS): string =>
  text.replace(FIELD, (whole, name: string, fallback: string | undefined) =>
    isKnown(name, others) ? (valueFor(name, person, others) ?? fallback ?? '') : whole,
  );

/** The text with all merge fields removed: the shortest that it can become. */
export const unmerged = (text: string): string => text.replace(FIELD, '');
