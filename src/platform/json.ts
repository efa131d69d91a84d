import { isStorable, toStorable } from './text.ts';

/**
 * Readers for foreign JSON. Each returns `undefined` for a value of another type, so that unexpected input becomes a missing value
 * instead of a TypeError.
 */

export type JsonObject = Readonly<Record<string, unknown>>;

const NOTHING: readonly unknown[] = [];

export const isObject = (value: unknown): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

export const asObject = (value: unknown): JsonObject | undefined => (isObject(value) ? value : undefined);

/** The elements of an array; empty for anything else. */
export function asList(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : NOTHING;
}

/** A non-empty string. */
export function asText(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined;
}

/** Far longer than any name; an index holds at most 2,704 bytes. */
const MAX_NAME = 255;

/** A word or name that is indexed; undefined if it is longer than any. */
export function asName(value: unknown): string | undefined {
  const text = asText(value);
  return text !== undefined && text.length <= MAX_NAME ? text : undefined;
}

/** An identifier, given as a string or a number. */
export function asId(value: unknown): string | undefined {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 ? String(value) : asText(value);
}

/** A finite number, also as a decimal string: sizes, timestamps and codes occur in both forms. */
export function asNumber(value: unknown): number | undefined {
  if (typeof value === 'number') return Number.isFinite(value) ? value : undefined;
  if (typeof value !== 'string' || !/^-?\d{1,15}(\.\d+)?$/.test(value)) return undefined;
  return Number(value);
}

/** Parses a JSON text; undefined if it is malformed. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Escapes of texts that may not be storable: U+0000, and surrogates, which are unpaired where an emoji was cut. */
const SUSPECT = /\\u(?:0000|d[89a-f])/i;

/** Deepest nesting of JSON that is stored. Recursive functions and PostgreSQL's parser end at some thousand levels. */
const MAX_DEPTH = 200;

/** @param text the JSON of the value: most have too few brackets to be deep */
function isTooDeep(value: unknown, text: string): boolean {
  if (text.split(/[[{]/, MAX_DEPTH + 2).length < MAX_DEPTH + 2) return false;
  let level: unknown[] = [value];
  for (let depth = 0; level.length > 0; depth += 1) {
    if (depth > MAX_DEPTH) return true;
    level = level.flatMap(part => (typeof part === 'object' && part !== null ? Object.values(part) : []));
  }
  return false;
}

/**
 * Parses a JSON text whose content is stored: `toStorable` in all its texts and names, because PostgreSQL refuses the whole value
 * otherwise. For JSON within a text too: its escapes survive the parsing of the outer JSON.
 *
 * @param text has no unpaired surrogates outside escapes, as if decoded from UTF-8
 * @returns undefined if it is malformed, or nested more deeply than any JSON of a network
 */
export function parseStorable(text: string): unknown {
  const value = parseJson(text);
  if (value === undefined || isTooDeep(value, text)) return undefined;
  return SUSPECT.test(text) ? JSON.parse(text, (_key, part: unknown) => storablePart(part)) : value;
}

function storablePart(part: unknown): unknown {
  if (typeof part === 'string') return toStorable(part);
  const fields = asObject(part);
  if (!fields || Object.keys(fields).every(isStorable)) return part;
  return Object.fromEntries(Object.entries(fields).map(([name, value]) => [toStorable(name), value]));
}
