import type { ErrorCode } from '../../core/errors.ts';
import { wireTime } from './values.ts';

/** GraphQL's names of fields whose names in REST are different words. */
const NAMES = {
  firstName: 'firstname',
  lastName: 'lastname',
  assigneeId: 'assigned_id',
  country: 'country_id',
  groupIds: 'groups',
  conversationId: 'interaction_id',
  replyId: 'id',
  text: 'message',
  to: 'phone',
} as const satisfies Record<string, string>;
const BY_NAME: ReadonlyMap<string, string> = new Map(Object.entries(NAMES));

/** List arguments whose names differ in REST; they are renamed only at the beginning of a path. */
const LIST_NAMES: Readonly<Record<string, string>> = { first: 'per_page', offset: 'page', orderBy: 'sort' };

type SnakeCase<Name extends string> = Name extends `${infer First}${infer Rest}`
  ? `${First extends Lowercase<First> ? First : `_${Lowercase<First>}`}${SnakeCase<Rest>}`
  : '';

/** A field's name in REST. */
export type WireName<Name extends string> = Name extends keyof typeof NAMES ? (typeof NAMES)[Name] : SnakeCase<Name>;
export const wireName = (name: string): string =>
  BY_NAME.get(name) ?? name.replace(/[A-Z]/g, letter => `_${letter.toLowerCase()}`);

/** The path of a field (`contact.firstName`, `filter.statusId.in`) in REST's names. */
export const wirePath = (path: string): string =>
  path
    .split('.')
    .map((name, index) => (index === 0 && Object.hasOwn(LIST_NAMES, name) ? LIST_NAMES[name] : wireName(name)))
    .join('.');

/** The path with the route's name for the field or its nearest ancestor that has one; `''`: the body itself. */
export function namedPath(path: string, names: Readonly<Record<string, string>>): string {
  for (let end = path.length; end > 0; end = path.lastIndexOf('.', end - 1)) {
    const name = names[path.slice(0, end)];
    if (name !== undefined) return name === '' ? wirePath(path.slice(end + 1)) : name + wirePath(path.slice(end));
  }
  return wirePath(path);
}

/** The details of an error in REST's names and timestamps. */
export function wireDetails(
  code: ErrorCode,
  details: Readonly<Record<string, unknown>>,
  names: Readonly<Record<string, string>> = {},
): Record<string, unknown> {
  if (code === 'VALIDATION_ERROR') return wireFaults(details, names);
  const entries = Object.entries(details).map(
    ([name, value]) => [name, typeof value === 'string' ? (wireTime(value) ?? value) : value] as const,
  );
  // In REST `message_id` is the network's id.
  return Object.fromEntries(
    code === 'MESSAGE_SEND_FAILED' || code === 'CONTACT_OPTED_OUT'
      ? entries.map(([name, value]) => [name === 'message_id' ? 'chat_message_id' : name, value])
      : entries,
  );
}

/** Faults by field. Several fields of GraphQL may be one in REST: it has the messages of all. */
function wireFaults(
  details: Readonly<Record<string, unknown>>,
  names: Readonly<Record<string, string>>,
): Record<string, unknown> {
  const fields = new Map<string, unknown>();
  for (const [path, messages] of Object.entries(details)) {
    const name = namedPath(path, names);
    const before = fields.get(name);
    const areLists = Array.isArray(before) && Array.isArray(messages);
    fields.set(name, areLists ? [...new Set([...before, ...messages])] : messages);
  }
  return Object.fromEntries(fields);
}

type CamelCase<Name> = Name extends `${infer First}_${infer Rest}` ? `${First}${Capitalize<CamelCase<Rest>>}` : Name;
/** The same value with GraphQL's spelling of its keys. */
export type CamelKeys<Value> = Value extends readonly (infer Item)[]
  ? CamelKeys<Item>[]
  : Value extends object
    ? { [Name in keyof Value as CamelCase<Name>]: CamelKeys<Value[Name]> }
    : Value;

/**
 * A value of a body with GraphQL's spelling of its keys: `{ media_id: '7' }` becomes `{ mediaId: '7' }`, at every depth.
 * Undefined fields are removed: the executor would read a key without a value as null, which removes a value.
 */
export function camelKeys<Value>(value: Value): CamelKeys<Value> {
  if (Array.isArray(value)) return value.map(item => camelKeys<unknown>(item)) as CamelKeys<Value>;
  if (typeof value !== 'object' || value === null) return value as CamelKeys<Value>;
  const fields = Object.entries(value).filter(([, field]) => field !== undefined);
  return Object.fromEntries(
    fields.map(([name, field]) => [
      name.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase()),
      camelKeys<unknown>(field),
    ]),
  ) as CamelKeys<Value>;
}
