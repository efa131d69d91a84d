import { parsePhoneIn, phoneKey } from '../../../platform/phone.ts';
import type { IntegrationRow } from '../integration.ts';
import { pathsOf } from '../mappings/mapping.ts';
import { DEFAULT_PATHS } from '../mappings/paths.ts';
import { countryNamed } from '../orders/order.ts';
import { firstText, textAt } from './path.ts';

/** More numbers than any real order contains; bounds the work for payloads made of numbers. */
const MAX_PEOPLE = 50;
/** RFC 5321 §4.5.3.1. */
const MAX_EMAIL = 320;

/** Identifiers by which a person is found: a phone number in all spellings, an e-mail address, a contact. */
const byPhone = (key: string): string => `phone:${key}`;
const byEmail = (email: string): string => `email:${email.toLowerCase()}`;
export const byContact = (id: number): string => `contact:${id}`;

/**
 * Finds all persons in a payload, at every path where a mapping (or the kind, without mappings) looks for a phone number or
 * e-mail address, including persons who get no message, such as the recipient of a present.
 */
export function peopleIn(
  payload: unknown,
  { kind, default_country, mappings }: Pick<IntegrationRow, 'kind' | 'default_country' | 'mappings'>,
): string[] {
  const people = new Set<string>();
  for (const paths of [DEFAULT_PATHS[kind], ...mappings.map(mapping => pathsOf(kind, mapping))]) {
    const countryText = firstText(payload, paths.country);
    const country = (countryText === undefined ? undefined : countryNamed(countryText)) ?? default_country;
    for (const path of paths.phone) {
      const phone = parsePhoneIn(textAt(payload, path) ?? '', country);
      if (phone) people.add(byPhone(phone.key));
    }
    for (const path of paths.email) {
      const email = textAt(payload, path);
      if (email !== undefined && email.length <= MAX_EMAIL) people.add(byEmail(email));
    }
  }
  return [...people].slice(0, MAX_PEOPLE);
}

/** The fields of a contact that a payload may contain. */
export interface Known {
  readonly id: number;
  readonly phone: string | null;
  readonly email: string | null;
}

export const peopleOf = (contacts: readonly Known[]): string[] =>
  contacts.flatMap(({ id, phone, email }) => [
    byContact(id),
    ...(phone === null ? [] : [byPhone(phoneKey(phone))]),
    ...(email === null ? [] : [byEmail(email)]),
  ]);
