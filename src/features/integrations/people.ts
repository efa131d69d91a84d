import { parsePhoneIn, phoneKey } from '../../platform/phone.ts';
import type { IntegrationRow } from './integration.ts';
import { DEFAULT_PATHS, pathsOf } from './mapping.ts';
import { countryNamed } from './order.ts';
import { firstText, textAt } from './path.ts';

/** More than any order names; a payload that is made of nothing but numbers is no order. */
const MAX_PEOPLE = 50;
/** RFC 5321 §4.5.3.1. */
const MAX_EMAIL = 320;

/** By what a person is found again: a phone number in all its spellings, an e-mail address, a contact. */
const byPhone = (key: string): string => `phone:${key}`;
const byEmail = (email: string): string => `email:${email.toLowerCase()}`;
export const byContact = (id: number): string => `contact:${id}`;

/**
 * Everybody whom a payload tells of, at every path where a mapping, or the kind where there is none, would look for a phone number
 * or an e-mail address: also who is not the one that a message goes to, such as the recipient of a present.
 */
export function peopleIn(
  payload: unknown,
  { kind, default_country, mappings }: Pick<IntegrationRow, 'kind' | 'default_country' | 'mappings'>,
): string[] {
  const people = new Set<string>();
  for (const paths of [DEFAULT_PATHS[kind], ...mappings.map(mapping => pathsOf(kind, mapping))]) {
    const told = firstText(payload, paths.country);
    const country = (told === undefined ? undefined : countryNamed(told)) ?? default_country;
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

/** A contact as payloads may tell of it. */
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
