import { asId, asName, asObject, asText, type JsonObject } from '../../../platform/json.ts';
import type { MessageStatus } from '../../network.ts';
import type { NetworkUpdate, Pricing } from '../../updates.ts';
import { webhookError } from '../errors.ts';
import { readUserId, readWaId } from '../identity.ts';
import type { ContactLookup } from './contacts.ts';
import { type Reading, timeOf } from './reading.ts';

/** The network's statuses. `played` (of a voice message) counts as read. */
const STATUSES: ReadonlyMap<unknown, MessageStatus> = new Map([
  ['sent', 'sent'],
  ['delivered', 'delivered'],
  ['read', 'read'],
  ['played', 'read'],
  ['failed', 'failed'],
]);

export const statusWord = (word: unknown): MessageStatus | undefined =>
  STATUSES.get(typeof word === 'string' ? word.toLowerCase() : word);

/** @returns undefined without an id, for an unknown status, and for the status of a payment or a call */
export function readStatus(
  status: JsonObject | undefined,
  contacts: ContactLookup,
  reading: Reading,
): Extract<NetworkUpdate, { kind: 'status' }> | undefined {
  const wamid = asText(status?.['id']);
  const word = statusWord(status?.['status']);
  const type = status?.['type'];
  if (!status || wamid === undefined || word === undefined || type === 'payment' || type === 'call') return undefined;
  const isGroup = status['recipient_type'] === 'group';
  // Statuses of a group name the group as recipient; the person is in one of two other fields.
  const participant = readWaId(status['recipient_participant_id']) ?? readWaId(status['participant_recipient_id']);
  const userId =
    readUserId(status['recipient_participant_user_id']) ??
    readUserId(status['recipient_user_id']) ??
    readUserId(status['recipient_id']);
  // The field had another name before 2026-05-05.
  const parentUserId = readUserId(status['recipient_parent_user_id']) ?? readUserId(status['parent_recipient_user_id']);
  const groupId = isGroup ? asId(status['recipient_id']) : undefined;
  const recipientId = participant ?? (isGroup ? undefined : readWaId(status['recipient_id']));
  const pricing = readPricing(status);
  return {
    kind: 'status',
    phoneNumberId: reading.phoneNumberId,
    wamid,
    callbackData: asText(status['biz_opaque_callback_data']),
    status: word,
    ...timeOf(status['timestamp'], reading),
    recipientId,
    userId: userId ?? readUserId(contacts(recipientId, undefined)?.['user_id']),
    ...(parentUserId !== undefined && { parentUserId }),
    ...(groupId !== undefined && { groupId }),
    ...(pricing && { pricing }),
    error: word === 'failed' ? webhookError(status['errors']) : undefined,
  };
}

/** In samples for groups it is within the conversation. */
function readPricing(status: JsonObject): Pricing | undefined {
  const fields = asObject(status['pricing']) ?? asObject(asObject(status['conversation'])?.['pricing']);
  if (!fields) return undefined;
  const { billable } = fields;
  return {
    model: asText(fields['pricing_model']) ?? null,
    type: asName(fields['type']) ?? null,
    category: asName(fields['category']) ?? null,
    isBillable: typeof billable === 'boolean' ? billable : null,
  };
}
