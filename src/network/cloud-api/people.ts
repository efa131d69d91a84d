import { phoneKey } from '../../platform/phone.ts';

/** A business-scoped user id: `CC.` and letters or digits; `CC.ENT.` joins the portfolios of one enterprise. */
export const USER_ID = /^[A-Z]{2}\.(?:ENT\.)?[A-Za-z0-9]{1,128}$/;
/** Bare digits of a number: at least as many as an international number, fewer than the 15 or more of account and media ids. */
const NUMBER = /^\+?\d{7,15}$/;
/** Keys whose digits never identify a person; `id` does only in threads of a history. */
const NOT_PEOPLE: ReadonlySet<string> = new Set([
  'timestamp',
  'phone_number_id',
  'display_phone_number',
  'waba_id',
  'entity_id',
  'source_id',
  'catalog_id',
  'message_template_id',
]);

/**
 * Finds all persons in a webhook's body by any identity: numbers (normalised by `phoneKey`), business-scoped user ids, and numbers
 * within message ids (`wamid.` + base64 contains the peer's number). May return too many, never too few: the result is an index, and
 * its reader checks the body.
 */
export function peopleOf(body: unknown): Set<string> {
  const people = new Set<string>();
  collect(body, '', people);
  return people;
}

function collect(value: unknown, key: string, people: Set<string>): void {
  if (typeof value === 'string') {
    const identity = identityIn(value, key);
    if (identity !== undefined) people.add(identity);
  } else if (Array.isArray(value)) {
    for (const part of value) {
      // An entry's id is a business account, a thread's a person.
      const isThread = key === 'threads' && typeof part?.id === 'string' && NUMBER.test(part.id);
      if (isThread) people.add(phoneKey(part.id));
      collect(part, key, people);
    }
  } else if (typeof value === 'object' && value !== null) {
    for (const [name, part] of Object.entries(value)) collect(part, name, people);
  }
}

/** The persons in a text, given the key that contains it. */
export function identityIn(text: string, key: string): string | undefined {
  if (text.startsWith('wamid.')) return peerOf(text);
  if (USER_ID.test(text)) return text;
  return key !== 'id' && !NOT_PEOPLE.has(key) && NUMBER.test(text) ? phoneKey(text) : undefined;
}

/**
 * The peer in a message id: base64 of a Thrift record whose first string (0x18, length, bytes) is the peer's number or user id.
 * @returns undefined for an id without a peer, for example of a group
 */
export function peerOf(wamid: string): string | undefined {
  const record = Buffer.from(wamid.slice('wamid.'.length), 'base64');
  if (record[1] !== 0x18) return undefined;
  const peer = record.toString('latin1', 3, 3 + (record[2] ?? 0));
  if (USER_ID.test(peer)) return peer;
  return NUMBER.test(peer) ? phoneKey(peer) : undefined;
}
