import { asList, asObject, asText } from '../../../platform/json.ts';
import type { NetworkUpdate } from '../../updates.ts';
import { personOf } from '../identity.ts';
import { contactLookup, contactsWith } from './contacts.ts';
import { readEcho, readMessage, unreadParts } from './messages.ts';
import { type Reading, timeOf } from './reading.ts';
import { readStatus } from './status.ts';

/**
 * The field `messaging_handovers`: a thread passes between apps and the network's agent. `control_passed` is sent to the new owner of
 * the thread, `control_taken` to the previous one.
 */
export function readHandover(reading: Reading): NetworkUpdate | undefined {
  const { value } = reading;
  const type = asText(value['type']);
  if (type !== 'control_passed' && type !== 'control_taken') return undefined;
  const sender = asObject(value['sender']);
  const person = personOf(sender?.['phone_number'] ?? sender?.['wa_id'], sender?.['user_id']);
  if (reading.phoneNumberId === '' || (person.waId === undefined && person.userId === undefined)) return undefined;
  const fields = asObject(value[type]);
  const summary = asObject(asObject(fields?.['conversation_context'])?.['summary']);
  return {
    kind: 'handover',
    phoneNumberId: reading.phoneNumberId,
    person,
    isOurs: type === 'control_passed',
    ownerRole: asText(fields?.['new_owner_role']),
    previousRole: asText(fields?.['previous_owner_role']),
    summary: asText(summary?.['text']),
    at: timeOf(value['timestamp'], reading).at,
  };
}

/** The field `standby`: copies from a thread that another app owns. Must not be replied to. */
export function readStandby(reading: Reading): NetworkUpdate[] {
  const { standby: copies, ...others } = reading.value;
  const standby = asObject(copies);
  if (!standby) return [reading.unreadable('standby', copies)];
  const contactsOf = contactsWith(standby['contacts']);
  const inner: Reading = {
    ...reading,
    value: standby,
    unreadable: (list, part, reason) =>
      reading.unreadable(
        'standby',
        { ...contactsOf(part), [list]: Array.isArray(standby[list]) ? [part] : part },
        reason,
      ),
  };
  const contacts = contactLookup(standby['contacts']);
  const lists = new Set(['contacts', 'messages', 'message_echoes', 'statuses']);
  return [
    ...asList(standby['messages']).map(part => standbyCopy(readMessage(part, contacts, inner))),
    ...asList(standby['message_echoes']).map(part => readEcho(unwrapEcho(part), contacts, inner, 'other_app')),
    ...asList(standby['statuses']).map(
      part => readStatus(asObject(part), contacts, inner) ?? inner.unreadable('statuses', part),
    ),
    ...unreadParts(inner, lists),
    ...unreadParts({ ...reading, value: others }, new Set()),
  ];
}

const standbyCopy = (update: NetworkUpdate): NetworkUpdate =>
  update.kind === 'message' ? { ...update, isStandby: true } : update;

/** A standby echo contains the body of the send in `message`. */
function unwrapEcho(part: unknown): unknown {
  const fields = asObject(part);
  const message = asObject(fields?.['message']);
  return fields && message ? { ...message, ...fields, message: undefined } : part;
}
