import { asId, asList, asObject, asText, type JsonObject } from '../../../platform/json.ts';
import { peopleOf } from '../people.ts';

/** Finds the `contacts[]` object of a message or status. */
export type ContactLookup = (waId: string | undefined, userId: string | undefined) => JsonObject | undefined;

/** If a change has a single contact, it is used unless the ids contradict. */
export function contactLookup(list: unknown): ContactLookup {
  const contacts = asList(list);
  if (contacts.length <= 1) {
    const only = asObject(contacts[0]);
    return (waId, userId) => {
      if (!only) return undefined;
      const differs = (a: string | undefined, b: string | undefined) => a !== undefined && b !== undefined && a !== b;
      return differs(asId(only['wa_id']), waId) || differs(asText(only['user_id']), userId) ? undefined : only;
    };
  }
  const byId = new Map<string, JsonObject>();
  for (const contact of contacts) {
    const fields = asObject(contact);
    if (!fields) continue;
    const waId = asId(fields['wa_id']);
    const userId = asText(fields['user_id']);
    if (waId !== undefined) byId.set(waId, fields);
    if (userId !== undefined) byId.set(userId, fields);
  }
  return (waId, userId) =>
    (userId !== undefined ? byId.get(userId) : undefined) ?? (waId !== undefined ? byId.get(waId) : undefined);
}

/**
 * Finds the `contacts` to store with a part of a change: a single one, otherwise those whom the part names. 1,000 contacts with
 * each of 1,000 parts would be a million.
 */
export function contactsWith(list: unknown): (part: unknown) => { readonly contacts?: readonly unknown[] } {
  const contacts = asList(list);
  if (contacts.length === 0) return () => ({});
  if (contacts.length === 1) return () => ({ contacts });
  let byIdentity: Map<string, unknown> | undefined;
  return part => {
    byIdentity ??= new Map(contacts.flatMap(contact => [...peopleOf(contact)].map(identity => [identity, contact])));
    const named = new Set([...peopleOf(part)].flatMap(identity => byIdentity?.get(identity) ?? []));
    return named.size === 0 ? {} : { contacts: [...named] };
  };
}
