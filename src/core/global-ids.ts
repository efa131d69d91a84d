import { invalid, notFound } from './errors.ts';
import { isUuid } from './ids.ts';

/**
 * Relay global ids: base64url of `Type:id`. ID arguments also accept the bare `databaseId` used by REST clients, which is
 * tried first: one UUID in 1,600 is also valid base64url of `Type:…`.
 */
export const encodeGlobalId = (typename: string, id: string | number): string =>
  // These characters never encode to `+` or `/`, so base64 without padding is base64url. btoa takes half the time of a Buffer.
  btoa(`${typename}:${id}`).replace(/=+$/, '');

/** @returns undefined if the text is not a global id */
export function decodeGlobalId(text: string): { typename: string; id: string } | undefined {
  if (isUuid(text)) return undefined;
  const [, typename, id] = /^([A-Za-z]+):(.{1,64})$/.exec(Buffer.from(text, 'base64').toString('utf8')) ?? [];
  return typename && id ? { typename, id } : undefined;
}

function bareId(typename: string, text: string): string | undefined {
  if (/^\d{1,16}$/.test(text) || isUuid(text)) return text;
  const decoded = decodeGlobalId(text);
  return decoded?.typename === typename ? decoded.id : undefined;
}

const parseNumber = (text: string | undefined): number | undefined =>
  text !== undefined && /^\d{1,16}$/.test(text) && Number.isSafeInteger(Number(text)) ? Number(text) : undefined;

/**
 * Parses the id of an operation's object.
 * @throws NOT_FOUND, also for malformed ids
 */
export function numericId(typename: string, text: string): number {
  const id = parseNumber(bareId(typename, text));
  if (id === undefined) throw notFound(typename);
  return id;
}

/** Like `numericId`, for UUIDs. */
export function uuidOf(typename: string, text: string): string {
  const id = bareId(typename, text);
  if (id === undefined || !isUuid(id)) throw notFound(typename);
  return id.toLowerCase();
}

/** Parses an id within an input. @throws VALIDATION_ERROR on `field` for malformed ids */
export function inputId(typename: string, text: string, field: string): number {
  const id = parseNumber(bareId(typename, text));
  if (id === undefined) throw invalid({ [field]: [`This is not the id of a ${typename}.`] });
  return id;
}

/** Like `inputId`; passes null (remove) and undefined (keep) through. */
export const optionalInputId = <T extends null | undefined>(
  typename: string,
  text: string | T,
  field: string,
): number | T => (typeof text === 'string' ? inputId(typename, text, field) : text);
