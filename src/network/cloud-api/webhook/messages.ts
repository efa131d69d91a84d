import { asList, asObject, type JsonObject } from '../../../platform/json.ts';
import type { NetworkPerson } from '../../network.ts';
import type { NetworkUpdate } from '../../updates.ts';
import { personOf, readSystemMessage } from '../identity.ts';
import { type ContactLookup, contactLookup } from './contacts.ts';
import { readErrors } from './health.ts';
import { isCorrection, readCorrection, readMessageParts } from './message.ts';
import type { Reading } from './reading.ts';
import { readStatus } from './status.ts';

/** Lists of `messages` that are read. */
const LISTS: ReadonlySet<string> = new Set(['contacts', 'errors', 'statuses', 'messages', 'message_echoes']);

/** The field `messages`: inbound messages, statuses of sent messages, errors of the account. */
export function readMessages(reading: Reading): NetworkUpdate[] {
  const { value } = reading;
  const contacts = contactLookup(value['contacts']);
  return [
    ...readErrors(reading),
    ...asList(value['statuses']).map(
      status => readStatus(asObject(status), contacts, reading) ?? reading.unreadable('statuses', status),
    ),
    ...asList(value['messages']).flatMap(message => [
      // Changes of a person's identity come before the person's message.
      ...identityIn(message, reading),
      readMessage(message, contacts, reading),
    ]),
    ...asList(value['message_echoes']).map(message => readEcho(message, contacts, reading, 'phone_app')),
    ...unreadParts(reading, LISTS),
  ];
}

/** Keys of the value of a change that say to which number it belongs, and not what changed. */
export const FRAME: ReadonlySet<string> = new Set(['messaging_product', 'metadata']);

/**
 * Returns an unhandled update for each part of a change that no reader reads: the values of keys other than `lists`, element by element
 * if they are lists, and values of `lists` that are not.
 */
export const unreadParts = (reading: Reading, lists: ReadonlySet<string>): NetworkUpdate[] =>
  Object.entries(reading.value)
    .filter(([key, value]) => !FRAME.has(key) && !(lists.has(key) && (Array.isArray(value) || value == null)))
    .flatMap(([key, value]) => (Array.isArray(value) ? value : [value]).map(part => reading.unreadable(key, part)));

/** The fields `smb_message_echoes` and `message_echoes`: messages that the business sent from the phone app. */
export function readEchoes(reading: Reading): NetworkUpdate[] {
  const { value } = reading;
  const contacts = contactLookup(value['contacts']);
  return [
    ...readErrors(reading),
    ...asList(value['message_echoes']).map(message => readEcho(message, contacts, reading, 'phone_app')),
    ...unreadParts(reading, new Set(['contacts', 'errors', 'message_echoes'])),
  ];
}

function identityIn(part: unknown, reading: Reading): NetworkUpdate[] {
  const message = asObject(part);
  const change = message && readSystemMessage(reading, message);
  return change ? [change] : [];
}

export function readMessage(part: unknown, contacts: ContactLookup, reading: Reading): NetworkUpdate {
  const message = asObject(part);
  const unreadable = (): NetworkUpdate => reading.unreadable('messages', part);
  if (!message) return unreadable();
  if (isCorrection(message)) return readCorrection(message, 'inbound', reading) ?? unreadable();
  const parts = readMessageParts(message, contacts, reading);
  // A message without a sender belongs to no conversation.
  if (!parts || (parts.from === undefined && parts.userId === undefined)) return unreadable();
  const change = readSystemMessage(reading, message);
  return {
    kind: 'message',
    phoneNumberId: reading.phoneNumberId,
    ...parts,
    ...(change?.kind === 'identity_change' && { change: { before: change.before, after: change.after } }),
  };
}

export function readEcho(
  part: unknown,
  contacts: ContactLookup,
  reading: Reading,
  origin: 'phone_app' | 'other_app',
): NetworkUpdate {
  const message = asObject(part);
  const unreadable = (): NetworkUpdate => reading.unreadable('message_echoes', part);
  if (!message) return unreadable();
  if (isCorrection(message)) return readCorrection(message, 'outbound', reading) ?? unreadable();
  const parts = readMessageParts(message, contacts, reading);
  const to = recipientOf(message);
  if (!parts || (to.waId === undefined && to.userId === undefined && parts.groupId === undefined)) return unreadable();
  return { kind: 'echo', phoneNumberId: reading.phoneNumberId, origin, to, ...parts };
}

export const recipientOf = (message: JsonObject): NetworkPerson =>
  personOf(message['to'], message['to_user_id'], message['to_parent_user_id']);
