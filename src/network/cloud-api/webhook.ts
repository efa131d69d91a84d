import { asId, asList, asNumber, asObject, asText, type JsonObject } from '../../platform/json.ts';
import type { MessageStatus, NetworkUpdate } from '../network.ts';
import { webhookError } from './errors.ts';
import { readableText } from './inbound-text.ts';
import { readTemplateUpdate } from './templates.ts';

/** The network's status words. `played` (a voice message was heard) is more than read and told as read; others are not ours. */
const STATUSES: ReadonlyMap<unknown, MessageStatus> = new Map([
  ['sent', 'sent'],
  ['delivered', 'delivered'],
  ['read', 'read'],
  ['played', 'read'],
  ['failed', 'failed'],
]);

/** Fields of a message that say who, when and about what; the rest is its content. */
const ENVELOPE = [
  'id',
  'from',
  'from_user_id',
  'from_parent_user_id',
  'group_id',
  'timestamp',
  'type',
  'context',
  'errors',
];

/**
 * The updates of one webhook, in its order: up to 1,000, over several entries and changes, duplicates included. Whatever
 * cannot be read is left out without a word and never spoils its neighbours: a webhook that is answered with an error
 * comes again whole for seven days.
 *
 * Not rejected: a missing `wa_id`, `from` or `recipient_id` (people with a user id only), timestamps as text or as
 * number, an unknown message type. Left out: unknown statuses, statuses and messages without an id, a number or a time.
 */
export function parseWebhook(body: unknown): NetworkUpdate[] {
  const updates: NetworkUpdate[] = [];
  eachChange(body, (wabaId, change) => {
    const field = asText(change['field']);
    const value = asObject(change['value']);
    if (field === undefined) return;
    if (field !== 'messages') {
      updates.push(
        readTemplateUpdate(wabaId, field, value) ?? { kind: 'other', wabaId, field, value: change['value'] },
      );
      return;
    }
    const phoneNumberId = asId(asObject(value?.['metadata'])?.['phone_number_id']);
    if (!value || phoneNumberId === undefined) return;
    // Errors of the account rather than of one message stand beside the lists.
    if (asList(value['errors']).length > 0) updates.push({ kind: 'other', wabaId, field, value });
    const contacts = contactLookup(value['contacts']);
    for (const status of asList(value['statuses'])) {
      const update = readStatus(phoneNumberId, asObject(status), contacts);
      if (update) updates.push(update);
    }
    for (const message of asList(value['messages'])) {
      const update = readMessage(phoneNumberId, asObject(message), contacts);
      if (update) updates.push(update);
    }
  });
  return updates;
}

/** Every business number and business account that a webhook names, each once: whose secret has to verify it. */
export function phoneNumberIds(body: unknown): { phoneNumberIds: string[]; wabaIds: string[] } {
  const numbers = new Set<string>();
  const wabas = new Set<string>();
  eachChange(
    body,
    (_wabaId, change) => {
      const id = asId(asObject(asObject(change['value'])?.['metadata'])?.['phone_number_id']);
      if (id !== undefined) numbers.add(id);
    },
    wabaId => wabas.add(wabaId),
  );
  return { phoneNumberIds: [...numbers], wabaIds: [...wabas] };
}

function eachChange(
  body: unknown,
  onChange: (wabaId: string, change: JsonObject) => void,
  onEntry?: (wabaId: string) => void,
): void {
  for (const entry of asList(asObject(body)?.['entry'])) {
    const fields = asObject(entry);
    const wabaId = asId(fields?.['id']);
    if (wabaId !== undefined) onEntry?.(wabaId);
    for (const change of asList(fields?.['changes'])) {
      const object = asObject(change);
      if (object) onChange(wabaId ?? '', object);
    }
  }
}

type ContactLookup = (waId: string | undefined, userId: string | undefined) => JsonObject | undefined;

/** Finds the contact of a message or status. The only contact of a change is taken when the ids do not contradict it. */
function contactLookup(list: unknown): ContactLookup {
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

function readStatus(
  phoneNumberId: string,
  status: JsonObject | undefined,
  contacts: ContactLookup,
): NetworkUpdate | undefined {
  if (!status) return undefined;
  const wamid = asText(status['id']);
  const word = STATUSES.get(status['status']);
  const at = readTime(status['timestamp']);
  if (wamid === undefined || word === undefined || at === undefined) return undefined;
  // A group's statuses name the group as recipient and the person beside it.
  const recipientId = asId(status['recipient_participant_id']) ?? asId(status['recipient_id']);
  const userId = asText(status['recipient_participant_user_id']) ?? asText(status['recipient_user_id']);
  return {
    kind: 'status',
    phoneNumberId,
    wamid,
    callbackData: asText(status['biz_opaque_callback_data']),
    status: word,
    at,
    recipientId,
    userId: userId ?? asText(contacts(recipientId, undefined)?.['user_id']),
    error: word === 'failed' ? webhookError(status['errors']) : undefined,
  };
}

function readMessage(
  phoneNumberId: string,
  message: JsonObject | undefined,
  contacts: ContactLookup,
): NetworkUpdate | undefined {
  if (!message) return undefined;
  const wamid = asText(message['id']);
  const at = readTime(message['timestamp']);
  if (wamid === undefined || at === undefined) return undefined;
  const type = asText(message['type']) ?? 'unknown';
  const named = asId(message['from']);
  const fromUserId = asText(message['from_user_id']);
  const contact = contacts(named, fromUserId);
  const reactsTo = type === 'reaction' ? asText(asObject(message['reaction'])?.['message_id']) : undefined;
  const content = Object.hasOwn(message, type) && !ENVELOPE.includes(type) ? message[type] : withoutEnvelope(message);
  return {
    kind: 'message',
    phoneNumberId,
    wamid,
    from: named ?? asId(contact?.['wa_id']),
    userId: fromUserId ?? asText(contact?.['user_id']),
    profileName: asText(asObject(contact?.['profile'])?.['name']),
    at,
    type,
    text: readableText(type, content),
    replyTo: reactsTo ?? asText(asObject(message['context'])?.['id']),
    content,
    error: webhookError(message['errors']),
  };
}

function withoutEnvelope(message: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(message).filter(([key]) => !ENVELOPE.includes(key)));
}

/** Unix seconds as text (all recorded webhooks) or as a number; milliseconds are recognised by their size. */
function readTime(value: unknown): Date | undefined {
  const number = asNumber(value);
  if (number === undefined || number <= 0) return undefined;
  const ms = number < 100_000_000_000 ? number * 1_000 : number;
  return ms <= 8_640_000_000_000_000 ? new Date(ms) : undefined;
}
