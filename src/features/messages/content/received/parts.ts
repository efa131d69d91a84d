import { asList, asObject, asText } from '../../../../platform/json.ts';
import type { PublicMessage } from '../../message.ts';

/** A location that a person shared. */
export interface Location {
  readonly latitude: number;
  readonly longitude: number;
  readonly name: string | null;
  readonly address: string | null;
}

/** A shared contact card. */
export interface SharedContact {
  readonly name: string;
  /** In the format of the card. */
  readonly phones: readonly string[];
}

type Received = Pick<PublicMessage, 'type' | 'content'>;
/** The location of a message; null for other messages, and without coordinates. */
export function locationOf({ type, content }: Received): Location | null {
  const { latitude, longitude, name, address } = content;
  if (type !== 'location' || typeof latitude !== 'number' || typeof longitude !== 'number') return null;
  return { latitude, longitude, name: asText(name) ?? null, address: asText(address) ?? null };
}

/** The contact cards of a message; the network sends a list, which `content` keeps under `value`. */
export function sharedContactsOf({ type, content }: Received): SharedContact[] {
  if (type !== 'contacts') return [];
  return asList(content['value']).map(card => {
    const { name, phones } = asObject(card) ?? {};
    const { formatted_name, first_name } = asObject(name) ?? {};
    const numbers = asList(phones).flatMap(entry => asText(asObject(entry)?.['phone']) ?? []);
    return { name: asText(formatted_name) ?? asText(first_name) ?? '', phones: numbers };
  });
}
