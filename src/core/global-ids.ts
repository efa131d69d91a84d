import { invalid, notFound } from './errors.ts';
import { isUuid } from './ids.ts';

/**
 * Relay global ids: base64url of `Type:tenant:id`, so that an id is unique across accounts. ID arguments also accept the bare
 * `databaseId` used by REST clients, which is tried first: one UUID in 1,600 is also valid base64url of `Type:…`.
 */
export const encodeGlobalId = (typename: string, tenantId: number, id: string | number): string =>
  // These characters never encode to `+` or `/`, so base64 without padding is base64url. btoa takes half the time of a Buffer.
  btoa(`${typename}:${tenantId}:${id}`).replace(/=+$/, '');

export interface GlobalId {
  readonly typename: string;
  readonly tenantId: number;
  readonly id: string;
}

/** @returns undefined if the text is not a global id */
export function decodeGlobalId(text: string): GlobalId | undefined {
  if (isUuid(text)) return undefined;
  const decoded = Buffer.from(text, 'base64').toString('utf8');
  const [, typename, tenantId, id] = /^([A-Za-z]+):(\d{1,15}):(.{1,64})$/.exec(decoded) ?? [];
  return typename && id ? { typename, tenantId: Number(tenantId), id } : undefined;
}

/** @returns undefined if the text is neither a bare id nor a global id of this type and tenant */
export function bareId(tenantId: number, typename: string, text: string): string | undefined {
  if (/^\d{1,16}$/.test(text) || isUuid(text)) return text;
  const decoded = decodeGlobalId(text);
  return decoded?.typename === typename && decoded.tenantId === tenantId ? decoded.id : undefined;
}

const keyOf = (text: string | undefined): number | undefined =>
  text !== undefined && /^\d{1,16}$/.test(text) && Number.isSafeInteger(Number(text)) ? Number(text) : undefined;

/** @returns undefined if the text is not an id of this type and tenant: a look-up finds nothing */
export const parseId = (tenantId: number, typename: string, text: string): number | undefined =>
  keyOf(bareId(tenantId, typename, text));

/** Like `parseId`, for UUIDs. */
export function parseUuid(tenantId: number, typename: string, text: string): string | undefined {
  const id = bareId(tenantId, typename, text);
  return id !== undefined && isUuid(id) ? id.toLowerCase() : undefined;
}

/**
 * Parses the id of an operation's object.
 * @param field of the input, if it is not `id`
 * @throws NOT_FOUND for malformed ids
 */
export function requireId(tenantId: number, typename: string, text: string, field?: string): number {
  const id = parseId(tenantId, typename, text);
  if (id === undefined) throw notFound(typename, field);
  return id;
}

/** Like `requireId`, for UUIDs. */
export function requireUuid(tenantId: number, typename: string, text: string): string {
  const id = parseUuid(tenantId, typename, text);
  if (id === undefined) throw notFound(typename);
  return id;
}

/** The fault of an id within an input, with the code REFERENCE_NOT_FOUND. */
export const notAnId = (typename: string): string => `This is not the id of a ${typename}.`;

/** Parses an id within an input. @throws VALIDATION_ERROR on `field` for malformed ids */
export function inputId(tenantId: number, typename: string, text: string, field: string): number {
  const id = parseId(tenantId, typename, text);
  if (id === undefined) throw invalid({ [field]: [notAnId(typename)] }, 'REFERENCE_NOT_FOUND');
  return id;
}

/** Like `inputId`, for UUIDs. */
export function inputUuid(tenantId: number, typename: string, text: string, field: string): string {
  const id = parseUuid(tenantId, typename, text);
  if (id === undefined) throw invalid({ [field]: [notAnId(typename)] }, 'REFERENCE_NOT_FOUND');
  return id;
}

/** Like `inputId`; passes null (remove) and undefined (keep) through. */
export const optionalInputId = <T extends null | undefined>(
  tenantId: number,
  typename: string,
  text: string | T,
  field: string,
): number | T => (typeof text === 'string' ? inputId(tenantId, typename, text, field) : text);

/** Extension of a `databaseId` field whose key REST writes as a number. */
export const IS_NUMERIC = 'isNumericKey';
