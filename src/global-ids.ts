import { invalid, notFound } from './errors.ts';
import { isUuid } from './platform/ids.ts';

/**
 * Relay global ids: base64url of `Type:id`. Every ID argument also takes the bare id (`databaseId`), which is what REST
 * clients have: digits and UUIDs are never valid base64url of `Type:…`.
 */
export const encodeGlobalId = (typename: string, id: string | number): string =>
  // Letters, digits, `:` and `-` never make a `+` or `/`, so that base64 without its padding is base64url; half the time of a Buffer.
  btoa(`${typename}:${id}`).replace(/=+$/, '');

/** @returns undefined when the text is no global id */
export function decodeGlobalId(text: string): { typename: string; id: string } | undefined {
  const [, typename, id] = /^([A-Za-z]+):(.{1,64})$/.exec(Buffer.from(text, 'base64').toString('utf8')) ?? [];
  return typename && id ? { typename, id } : undefined;
}

function bareId(typename: string, text: string): string | undefined {
  if (/^\d{1,16}$/.test(text) || isUuid(text)) return text;
  const decoded = decodeGlobalId(text);
  return decoded?.typename === typename ? decoded.id : undefined;
}

const asNumber = (text: string | undefined): number | undefined =>
  text !== undefined && /^\d{1,16}$/.test(text) && Number.isSafeInteger(Number(text)) ? Number(text) : undefined;

/** Reads the id of the object that an operation is about. What cannot be an id is an object that does not exist. */
export function numericId(typename: string, text: string): number {
  const id = asNumber(bareId(typename, text));
  if (id === undefined) throw notFound(typename);
  return id;
}

/** As `numericId`, for objects whose ids are UUIDs. */
export function uuidOf(typename: string, text: string): string {
  const id = bareId(typename, text);
  if (id === undefined || !isUuid(id)) throw notFound(typename);
  return id.toLowerCase();
}

/** Reads an id inside an input: what cannot be one is a fault of that field. */
export function inputId(typename: string, text: string, field: string): number {
  const id = asNumber(bareId(typename, text));
  if (id === undefined) throw invalid({ [field]: [`This is not the id of a ${typename}.`] });
  return id;
}

/** As `inputId`, keeping null (take away) and undefined (leave alone). */
export const optionalInputId = <T extends null | undefined>(
  typename: string,
  text: string | T,
  field: string,
): number | T => (typeof text === 'string' ? inputId(typename, text, field) : text);
