import { asList, asNumber, asObject, asText, type JsonObject } from '../../../platform/json.ts';
import type { NetworkPerson } from '../../network.ts';
import type { NetworkUpdate } from '../../updates.ts';
import { personOf, readUserId, readWaId } from '../identity.ts';
import { type ContactLookup, contactLookup } from './contacts.ts';
import { readErrors } from './health.ts';
import { unreadParts } from './messages.ts';
import { type Reading, readTime, timeOf } from './reading.ts';

const LISTS: ReadonlySet<string> = new Set(['contacts', 'errors', 'calls', 'statuses']);

/** The field `calls`: calls in both directions and their results. */
export function readCalls(reading: Reading): NetworkUpdate[] {
  const { value } = reading;
  const contacts = contactLookup(value['contacts']);
  return [
    ...readErrors(reading),
    ...asList(value['calls']).map(
      part => readCall(asObject(part), contacts, reading) ?? reading.unreadable('calls', part),
    ),
    ...asList(value['statuses']).map(
      part => readCallStatus(asObject(part), contacts, reading) ?? reading.unreadable('statuses', part),
    ),
    ...unreadParts(reading, LISTS),
  ];
}

function readCall(call: JsonObject | undefined, contacts: ContactLookup, reading: Reading): NetworkUpdate | undefined {
  const callId = asText(call?.['id']);
  const event = asText(call?.['event']);
  if (!call || callId === undefined || event === undefined) return undefined;
  const direction = call['direction'] === 'BUSINESS_INITIATED' ? 'outbound' : 'inbound';
  const side = direction === 'inbound' ? 'from' : 'to';
  const named = personOf(call[side], call[`${side}_user_id`], call[`${side}_parent_user_id`]);
  const contact = contacts(named.waId, named.userId);
  const person = withContactIds(named, contact);
  if (!person) return undefined;
  // The session description contains network addresses and concerns only the two ends of the call.
  const { session: _session, ...content } = call;
  const startedAt = readTime(call['start_time']);
  return {
    kind: 'call',
    phoneNumberId: reading.phoneNumberId,
    callId,
    direction,
    person,
    profileName: asText(asObject(contact?.['profile'])?.['name']),
    ...(startedAt ? { at: startedAt } : timeOf(call['timestamp'], reading)),
    event: event.toLowerCase(),
    outcome: asText(call['status'])?.toLowerCase(),
    durationSeconds: asNumber(call['duration']),
    callbackData: asText(call['biz_opaque_callback_data']),
    content,
  };
}

/** The status of an outgoing call; it names the person like a message status. */
function readCallStatus(
  status: JsonObject | undefined,
  contacts: ContactLookup,
  reading: Reading,
): NetworkUpdate | undefined {
  const callId = asText(status?.['id']);
  const word = asText(status?.['status']);
  if (!status || callId === undefined || word === undefined || status['type'] !== 'call') return undefined;
  const named = personOf(status['recipient_id'], status['recipient_user_id'], status['recipient_parent_user_id']);
  const person = withContactIds(named, contacts(named.waId, named.userId));
  if (!person) return undefined;
  return {
    kind: 'call',
    phoneNumberId: reading.phoneNumberId,
    callId,
    direction: 'outbound',
    person,
    profileName: undefined,
    ...timeOf(status['timestamp'], reading),
    event: word.toLowerCase(),
    // A rejected call gets no other webhook.
    outcome: word.toLowerCase() === 'rejected' ? 'rejected' : undefined,
    durationSeconds: undefined,
    callbackData: asText(status['biz_opaque_callback_data']),
    content: status,
  };
}

/** Adds the ids of the person's `contacts[]` object. @returns undefined without any id */
function withContactIds(named: NetworkPerson, contact: JsonObject | undefined): NetworkPerson | undefined {
  const waId = named.waId ?? readWaId(contact?.['wa_id']);
  const userId = named.userId ?? readUserId(contact?.['user_id']);
  return waId === undefined && userId === undefined ? undefined : { ...named, waId, userId };
}
