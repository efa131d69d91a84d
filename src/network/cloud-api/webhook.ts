import { MINUTE } from '../../platform/clock.ts';
import { asList, asObject, isObject, type JsonObject } from '../../platform/json.ts';
import type { NetworkUpdate, WebhookChange } from '../updates.ts';
import { readPreference, readUserIdUpdate } from './identity.ts';
import { readTemplateUpdate } from './templates.ts';
import { readCalls } from './webhook/calls.ts';
import { changesOf, type RawChange } from './webhook/changes.ts';
import { isGroupField, readGroups } from './webhook/groups.ts';
import { readHandover, readStandby } from './webhook/handovers.ts';
import { HEALTH_FIELDS, readHealth } from './webhook/health.ts';
import { readHistory } from './webhook/history.ts';
import { FRAME, readEchoes, readMessages, unreadParts } from './webhook/messages.ts';
import { type Reading, readingOf } from './webhook/reading.ts';

/** @returns undefined or an empty list if nothing in the change could be read */
type Reader = (reading: Reading) => readonly NetworkUpdate[] | undefined;

const listOf = (update: NetworkUpdate | undefined): NetworkUpdate[] | undefined => update && [update];

/** A webhook delivered this long after its change is a retry: those of later changes may have arrived before it. */
const LATE_MS = MINUTE;

function readTemplate({ wabaId, field, value, changedAt, arrivedAt }: Reading): NetworkUpdate[] | undefined {
  const update = readTemplateUpdate(wabaId, field, value);
  const isLate = changedAt !== undefined && arrivedAt.getTime() - changedAt.getTime() > LATE_MS;
  return listOf(update && isLate ? { ...update, isLate } : update);
}

/** The readers by field. Fields of a number need its id. */
const READERS: Readonly<Record<string, Reader>> = {
  messages: ofNumber(readMessages),
  smb_message_echoes: ofNumber(readEchoes),
  message_echoes: ofNumber(readEchoes),
  history: ofNumber(readHistory),
  calls: ofNumber(readCalls),
  standby: ofNumber(readStandby),
  user_preferences: ofNumber(reading => eachOf(reading, readPreference)),
  user_id_update: ofNumber(reading => eachOf(reading, readUserIdUpdate)),
  messaging_handovers: reading => listOf(readHandover(reading)),
  message_template_status_update: readTemplate,
  message_template_quality_update: readTemplate,
  message_template_components_update: readTemplate,
  template_category_update: readTemplate,
  ...Object.fromEntries(HEALTH_FIELDS.map(field => [field, readHealth])),
};

/** Reads a field with a single list of the same name. */
const eachOf = (
  reading: Reading,
  read: (reading: Reading, part: JsonObject | undefined) => NetworkUpdate | undefined,
): NetworkUpdate[] => [
  ...asList(reading.value[reading.field]).map(
    part => read(reading, asObject(part)) ?? reading.unreadable(reading.field, part),
  ),
  ...unreadParts(reading, new Set(['contacts', reading.field])),
];

/** Fields with a reader; the possible labels of a metric. */
export const isKnownField = (field: string): boolean => readerOf(field) !== undefined;

const readerOf = (field: string): Reader | undefined =>
  Object.hasOwn(READERS, field) ? READERS[field] : isGroupField(field) ? ofNumber(readGroups) : undefined;

function ofNumber(read: (reading: Reading) => readonly NetworkUpdate[]): Reader {
  return reading => (reading.phoneNumberId === '' ? undefined : read(reading));
}

/**
 * Reads all updates of a webhook, in order: up to 1,000 in several entries and changes, duplicates included. Each change has at least
 * one update, unless its lists are empty. Unreadable content becomes an update of kind `unhandled`, as the smallest possible part, so that the rest is
 * unaffected. Throws if the body is not JSON.
 *
 * Accepted: a missing `wa_id`, `from` or `recipient_id` (persons with only a user id), timestamps as text, as a number or malformed
 * (then the time of arrival), unknown message types.
 */
export const readWebhook = (body: unknown, arrivedAt: Date): WebhookChange[] =>
  changesOf(body).map(change => ({
    field: change.field,
    address: change.address,
    raw: change.raw,
    updates: updatesOf(change, arrivedAt),
  }));

function updatesOf(change: RawChange, arrivedAt: Date): readonly NetworkUpdate[] {
  const { field, raw } = change;
  if (field === '') return [{ kind: 'unhandled', field, reason: 'malformed', raw }];
  const read = readerOf(field);
  const value = asObject(change.value);
  if (!read) return [{ kind: 'unhandled', field, reason: 'unknown_field', raw }];
  const updates = value && read(readingOf(change, value, arrivedAt));
  if (updates && (updates.length > 0 || isEmptied(value))) return updates;
  return [{ kind: 'unhandled', field, reason: 'unreadable', raw }];
}

/** Whether an object has nothing but empty lists, as the erasure of the people in them leaves it. */
function isEmptied(value: JsonObject): boolean {
  const parts = Object.entries(value).flatMap(([key, part]) => (FRAME.has(key) ? [] : [part]));
  return (
    parts.length > 0 && parts.every(part => Array.isArray(part) && part.every(one => isObject(one) && isEmptied(one)))
  );
}
