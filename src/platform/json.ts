/**
 * Readers for foreign JSON. Each returns `undefined` for a value of another type, so that unexpected input becomes a missing value
 * instead of a TypeError.
 */

export type JsonObject = Readonly<Record<string, unknown>>;

const NOTHING: readonly unknown[] = [];

export function asObject(value: unknown): JsonObject | undefined {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as JsonObject) : undefined;
}

/** The elements of an array; empty for anything else. */
export function asList(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : NOTHING;
}

/** A non-empty string. */
export function asText(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined;
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
