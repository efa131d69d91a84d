import type { ErrorCode } from '../errors.ts';
import { wireTime } from './wire-time.ts';

/** GraphQL's names of fields that are not merely written otherwise in REST. */
const NAMES: Readonly<Record<string, string>> = {
  firstName: 'firstname',
  lastName: 'lastname',
  assigneeId: 'assigned_id',
  groupIds: 'groups',
  conversationId: 'interaction_id',
  first: 'per_page',
  offset: 'page',
  orderBy: 'sort',
  text: 'message',
  to: 'phone',
};

/** A field's name in REST. */
export const wireName = (name: string): string =>
  (Object.hasOwn(NAMES, name) ? NAMES[name] : undefined) ??
  name.replace(/[A-Z]/g, letter => `_${letter.toLowerCase()}`);

/** The path of a field (`contact.firstName`, `filter.statusId.in`) in REST's names. */
export const wirePath = (path: string): string => path.split('.').map(wireName).join('.');

/** What this route calls a field, or the nearest field around it, otherwise than all others. */
function namedPath(path: string, names: Readonly<Record<string, string>>): string {
  for (let end = path.length; end > 0; end = path.lastIndexOf('.', end - 1)) {
    const name = names[path.slice(0, end)];
    if (name !== undefined) return name + wirePath(path.slice(end));
  }
  return wirePath(path);
}

/** The details of an error in REST's names and timestamps. */
export function wireDetails(
  code: ErrorCode,
  details: Readonly<Record<string, unknown>>,
  names: Readonly<Record<string, string>> = {},
): Record<string, unknown> {
  if (code === 'VALIDATION_ERROR')
    return Object.fromEntries(Object.entries(details).map(([path, messages]) => [namedPath(path, names), messages]));
  const entries = Object.entries(details).map(
    ([name, value]) => [name, typeof value === 'string' ? (wireTime(value) ?? value) : value] as const,
  );
  // In REST `message_id` is the network's id; ours has another name.
  return Object.fromEntries(
    code === 'MESSAGE_SEND_FAILED'
      ? entries.map(([name, value]) => [name === 'message_id' ? 'chat_message_id' : name, value])
      : entries,
  );
}
