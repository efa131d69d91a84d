import { asList, asNumber, asObject, type JsonObject } from '../../../platform/json.ts';
import type { NetworkPerson } from '../../network.ts';
import type { NetworkUpdate } from '../../updates.ts';
import { webhookError } from '../errors.ts';
import { personOf, readUserId, readWaId } from '../identity.ts';
import { type ContactLookup, contactLookup } from './contacts.ts';
import { isCorrection, readCorrection, readMessageParts } from './message.ts';
import { recipientOf, unreadParts } from './messages.ts';
import type { Reading } from './reading.ts';
import { statusWord } from './status.ts';

const LISTS: ReadonlySet<string> = new Set(['contacts', 'history', 'messages', 'message_echoes']);

/**
 * The field `history`: messages from before the number was connected, in chunks in any order. Media follow later, as `messages` (from
 * persons) and `message_echoes` (from the business) of the same field, under the ids of their placeholders.
 */
export function readHistory(reading: Reading): NetworkUpdate[] {
  const { value } = reading;
  const contacts = contactLookup(value['contacts']);
  return [
    ...asList(value['history']).flatMap(part => readChunk(part, contacts, reading)),
    ...asList(value['messages']).map(
      part => readPastMessage(part, undefined, 'inbound', contacts, reading) ?? reading.unreadable('messages', part),
    ),
    ...asList(value['message_echoes']).map(
      part =>
        readPastMessage(part, undefined, 'outbound', contacts, reading) ?? reading.unreadable('message_echoes', part),
    ),
    ...unreadParts(reading, LISTS),
  ];
}

function readChunk(part: unknown, contacts: ContactLookup, reading: Reading): NetworkUpdate[] {
  const chunk = asObject(part);
  const metadata = asObject(chunk?.['metadata']);
  const error = webhookError(chunk?.['errors']);
  const threads = chunk?.['threads'] ?? [];
  if (!chunk || !Array.isArray(threads) || (!metadata && !error && threads.length === 0))
    return [reading.unreadable('history', part)];
  const progress: NetworkUpdate = {
    kind: 'history_progress',
    phoneNumberId: reading.phoneNumberId,
    phase: asNumber(metadata?.['phase']),
    progress: asNumber(metadata?.['progress']),
    error,
  };
  return [progress, ...threads.flatMap(thread => readThread(thread, metadata, contacts, reading))];
}

function readThread(
  part: unknown,
  metadata: JsonObject | undefined,
  contacts: ContactLookup,
  reading: Reading,
): NetworkUpdate[] {
  const thread = asObject(part);
  const context = asObject(thread?.['context']);
  const person = personOf(context?.['wa_id'] ?? thread?.['id'], context?.['user_id'], context?.['parent_user_id']);
  const kept = (messages: readonly unknown[]): NetworkUpdate =>
    reading.unreadable('history', { metadata, threads: [{ ...thread, messages }] });
  const messages = thread?.['messages'];
  if (!Array.isArray(messages)) return [reading.unreadable('history', { metadata, threads: [part] })];
  return messages.map(message => readPastMessage(message, person, undefined, contacts, reading) ?? kept([message]));
}

/**
 * @param person of the thread; undefined if the message itself names the person
 * @param side undefined: outbound unless it is from the person
 */
function readPastMessage(
  part: unknown,
  person: NetworkPerson | undefined,
  side: 'inbound' | 'outbound' | undefined,
  contacts: ContactLookup,
  reading: Reading,
): NetworkUpdate | undefined {
  const message = asObject(part);
  if (!message) return undefined;
  const direction = side ?? (isFrom(message, person) ? 'inbound' : 'outbound');
  if (isCorrection(message)) {
    const correction = readCorrection(message, direction, reading);
    return correction && { ...correction, isPast: true };
  }
  const parts = readMessageParts(message, contacts, reading);
  if (!parts) return undefined;
  const named = direction === 'inbound' ? personOf(parts.from, parts.userId, parts.parentUserId) : recipientOf(message);
  const owner = personOfMessage(named, person);
  if (owner.waId === undefined && owner.userId === undefined && parts.groupId === undefined) return undefined;
  return {
    kind: 'past_message',
    phoneNumberId: reading.phoneNumberId,
    direction,
    person: owner,
    isUserIdOfThread: owner.userId !== undefined && owner.userId !== named.userId,
    status: statusWord(asObject(message['history_context'])?.['status']),
    ...parts,
  };
}

/** The user id of a message takes precedence over that of its thread, because a number may have changed hands since. */
function personOfMessage(named: NetworkPerson, ofThread: NetworkPerson | undefined): NetworkPerson {
  if (ofThread?.waId === undefined && ofThread?.userId === undefined) return named;
  if (named.userId === undefined || named.userId === ofThread.userId) return ofThread;
  return { ...named, waId: ofThread.waId ?? named.waId };
}

/** Messages of the business name the person in `to`; older samples only have `from`. */
function isFrom(message: JsonObject, person: NetworkPerson | undefined): boolean {
  if (message['to'] !== undefined || message['to_user_id'] !== undefined) return false;
  const from = readWaId(message['from']);
  const userId = readUserId(message['from_user_id']);
  if (person?.waId !== undefined && from !== undefined) return from === person.waId;
  return person?.userId === undefined || userId === undefined || userId === person.userId;
}
