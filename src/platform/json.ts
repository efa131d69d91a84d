/**
 * Reading JSON that somebody else wrote. Each reader answers `undefined` for whatever is not of its kind, so that a
 * surprise of theirs becomes a missing value and never a thrown TypeError.
 */

export type JsonObject = Readonly<Record<string, unknown>>;

const NOTHING: readonly unknown[] = [];

export function asObject(value: unknown): JsonObject | undefined {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as JsonObject) : undefined;
}

/** The elements of an array; none where there is no array. */
export function asList(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : NOTHING;
}

/** A string that is not empty. */
export function asText(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined;
}

/** An identifier, which the same writer may have as a string here and as a number there. */
export function asId(value: unknown): string | undefined {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 ? String(value) : asText(value);
}

/** A finite number, also when it comes as a decimal string: sizes, timestamps and codes are met in both forms. */
export function asNumber(value: unknown): number | undefined {
  if (typeof value === 'number') return Number.isFinite(value) ? value : undefined;
  if (typeof value !== 'string' || !/^-?\d{1,15}(\.\d+)?$/.test(value)) return undefined;
  return Number(value);
}

/** The value of a JSON text, or `undefined` where it is none. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
