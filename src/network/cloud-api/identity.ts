import { asId, asObject, asText, type JsonObject } from '../../platform/json.ts';
import type { NetworkPerson } from '../network.ts';
import type { NetworkUpdate } from '../updates.ts';
import { USER_ID } from './people.ts';
import { type Reading, timeOf } from './webhook/reading.ts';

/** The end of the sentence "User <name> changed from US.1 to US.2". Only its end: the name is the user's own text. */
const CHANGED_IDS = /\b([A-Z]{2}\.[A-Za-z0-9]{1,128}) to ([A-Z]{2}\.[A-Za-z0-9]{1,128})\W*$/;

const isUserId = (text: string): boolean => USER_ID.test(text);

/** Digits of a number, without plus; undefined for anything else, in particular user ids, whose digits are not a number. */
export function readWaId(value: unknown): string | undefined {
  const text = asId(value)?.trim();
  return text !== undefined && /^\+?\d{1,20}$/.test(text) ? text.replace('+', '') : undefined;
}

/** A user id, even if the network puts it into a field for numbers. */
export function readUserId(value: unknown): string | undefined {
  const text = asText(value)?.trim();
  return text !== undefined && isUserId(text) ? text : undefined;
}

/** A person by the network's identifiers. */
export const personOf = (waId: unknown, userId: unknown, parentUserId?: unknown): NetworkPerson => ({
  waId: readWaId(waId),
  userId: readUserId(userId) ?? readUserId(waId),
  parentUserId: readUserId(parentUserId),
});

/**
 * Reads an identity change from a system message: `user_changed_number` (`from` is the old number, `wa_id` the new one) or
 * `user_changed_user_id`. Such messages have no `contacts`; ids may occur only in the body (cloud-api-breadth §2).
 */
export function readSystemMessage(reading: Reading, message: JsonObject): NetworkUpdate | undefined {
  const system = asObject(message['system']);
  const type = asText(system?.['type']);
  if (!system || (type !== 'user_changed_number' && type !== 'user_changed_user_id')) return undefined;
  const [, oldId, newId] = (type === 'user_changed_user_id' && CHANGED_IDS.exec(asText(system['body']) ?? '')) || [];
  const before: NetworkPerson = {
    waId: readWaId(message['from']),
    userId: readUserId(message['from_user_id']) ?? readUserId(message['from']) ?? oldId,
    parentUserId: readUserId(message['from_parent_user_id']),
  };
  const after: NetworkPerson = {
    waId: readWaId(system['wa_id']) ?? readWaId(system['new_wa_id']),
    userId: readUserId(system['user_id']) ?? newId,
    parentUserId: readUserId(system['parent_user_id']),
  };
  return changeOf(reading, message['timestamp'], before, after);
}

const isNamed = ({ waId, userId, parentUserId }: NetworkPerson): boolean =>
  waId !== undefined || userId !== undefined || parentUserId !== undefined;

const changeOf = (
  reading: Reading,
  timestamp: unknown,
  before: NetworkPerson,
  after: NetworkPerson,
): NetworkUpdate | undefined =>
  // A change without identifiers on one side is ignored.
  isNamed(before) && isNamed(after)
    ? {
        kind: 'identity_change',
        phoneNumberId: reading.phoneNumberId,
        at: timeOf(timestamp, reading).at,
        before,
        after,
      }
    : undefined;

/** An element of `user_id_update`: a new user id, usually after a change of number. */
export function readUserIdUpdate(reading: Reading, update: JsonObject | undefined): NetworkUpdate | undefined {
  if (!update) return undefined;
  const [userId, parent] = [asObject(update['user_id']), asObject(update['parent_user_id'])];
  const before = personOf(undefined, userId?.['previous'], parent?.['previous']);
  const after = personOf(update['wa_id'], userId?.['current'], parent?.['current']);
  return changeOf(reading, update['timestamp'], before, after);
}

/** An element of `user_preferences`: a person stopped or resumed marketing messages in the app. */
export function readPreference(reading: Reading, preference: JsonObject | undefined): NetworkUpdate | undefined {
  const wish = preference?.['value'];
  if (preference?.['category'] !== 'marketing_messages') return undefined;
  if (wish !== 'stop' && wish !== 'resume') return undefined;
  const person = personOf(preference['wa_id'], preference['user_id'], preference['parent_user_id']);
  if (!isNamed(person)) return undefined;
  return {
    kind: 'preference',
    phoneNumberId: reading.phoneNumberId,
    at: timeOf(preference['timestamp'], reading).at,
    person,
    category: 'marketing',
    wish,
    detail: asText(preference['detail']),
  };
}
