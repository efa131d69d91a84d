/**
 * Text fields without personal data: identity, kind, time. This is an allow-list, so that a field added by a later version is
 * blanked by default.
 */
const KEPT_TEXTS: ReadonlySet<string> = new Set([
  'id',
  'type',
  'kind',
  'status',
  'direction',
  'reason',
  'trigger',
  'language',
  'purpose',
  'template_name',
  'retry_of',
  'topic',
  'currency',
  'event_type',
]);
const KEPT_SUFFIX = /_(?:id|at)$/;
/** `state` is also the name of a part of an address, so its values are checked. */
const STATES = /^(?:live|verified|exhausted|replaced|failed|expired|sending|pending|stored)$/;
/** Identifiers issued by the network, which contain or stand for a number, and the content of messages. */
const DROPPED: ReadonlySet<string> = new Set([
  'content',
  'message_id',
  'ref_message_id',
  'echo_id',
  'network_user_id',
  'wa_id',
  'shop_delivery_id',
]);

/**
 * Removes personal data from a payload. Its shape, ids, kinds and times stay; texts become empty and the content of messages
 * becomes `{}`, so that readers of the log find the fields that the schema promises.
 */
export const blankPayload = (payload: Readonly<Record<string, unknown>>): Record<string, unknown> => ({
  ...blankObject(payload),
  erased: true,
});

const blankObject = (object: Readonly<Record<string, unknown>>): Record<string, unknown> =>
  Object.fromEntries(Object.entries(object).map(([key, value]) => [key, blankValue(key, value)]));

function blankValue(key: string, value: unknown): unknown {
  if (DROPPED.has(key)) return typeof value === 'object' && value !== null ? {} : null;
  if (Array.isArray(value)) return [];
  if (typeof value === 'object' && value !== null) return blankObject(value as Record<string, unknown>);
  if (typeof value === 'string') return isKeptText(key, value) ? value : '';
  if (typeof value === 'number') return isSmall(value) || key === 'id' || KEPT_SUFFIX.test(key) ? value : 0;
  return value;
}

const isKeptText = (key: string, value: string): boolean =>
  KEPT_TEXTS.has(key) || KEPT_SUFFIX.test(key) || (key === 'state' && STATES.test(value));

/** Small numbers are counts, error codes or milliseconds, never phone numbers. */
const isSmall = (value: number): boolean => Math.abs(value) < 1_000_000;
