import { isObject } from '../../platform/json.ts';
import { identityIn } from './people.ts';

/** Marks a value that identifies one of the persons: the enclosing list element is removed. */
const NAMED = Symbol('named');

/** Decides whether an element (a message, a status, …) that names a person is kept nevertheless. */
export type Keeps = (element: Readonly<Record<string, unknown>>) => boolean;

/**
 * Removes persons from a webhook's body: every list element (message, status, contact, change) that names one of them; all others stay
 * unchanged.
 * @param identities numbers normalised by `phoneKey`, business-scoped user ids
 * @returns undefined if nothing was removed
 */
export function withoutPeople(body: unknown, identities: ReadonlySet<string>, keeps: Keeps = () => false): unknown {
  let isChanged = false;

  function prune(value: unknown, key: string): unknown {
    if (typeof value === 'string') {
      const identity = identityIn(value, key);
      return identity !== undefined && identities.has(identity) ? NAMED : value;
    }
    if (Array.isArray(value)) return value.map(part => pruneElement(part, key)).filter(part => part !== NAMED);
    if (typeof value !== 'object' || value === null) return value;
    const pruned: Record<string, unknown> = {};
    for (const [name, part] of Object.entries(value)) {
      const kept = prune(part, name);
      // A reply to the person is another person's message.
      if (kept === NAMED && name !== 'context') return NAMED;
      if (kept === NAMED) isChanged = true;
      pruned[name] = kept === NAMED ? {} : kept;
    }
    return pruned;
  }

  /** In a history, `id` of a thread identifies the person. */
  function pruneElement(element: unknown, key: string): unknown {
    const id = key === 'threads' ? (element as { readonly id?: unknown } | null)?.id : undefined;
    const isNamed = typeof id === 'string' && prune(id, 'thread') === NAMED;
    const pruned = prune(element, key);
    if (pruned !== NAMED && !isNamed) return pruned;
    if (isObject(element) && keeps(element)) return isNamed ? pruned : element;
    isChanged = true;
    return NAMED;
  }

  const pruned = prune(body, '');
  if (pruned === NAMED) return {};
  return isChanged ? pruned : undefined;
}

/**
 * Removes elements about a person by their time: those that `stays` rejects. Elements without a time (a profile) stay if an element with
 * a time stays in the same change.
 * @returns the same body if nothing was removed
 */
export function withoutPart(
  body: unknown,
  identity: string,
  stays: (element: Readonly<Record<string, unknown>>, atMs: number) => boolean,
): unknown {
  const identities = new Set([identity]);
  return eachChange(body, part => {
    let remains = false;
    const keeps: Keeps = element => {
      const atMs = timeOf(element);
      if (atMs === undefined) return true;
      const isKept = stays(element, atMs);
      if (isKept) remains = true;
      return isKept;
    };
    const rest = withoutPeople(part, identities, keeps) ?? part;
    return remains ? rest : (withoutPeople(rest, identities) ?? rest);
  });
}

/** In milliseconds. A change with a single subject has its time in its value. */
function timeOf(element: Readonly<Record<string, unknown>>): number | undefined {
  const { timestamp, value } = element;
  const seconds = Number(timestamp ?? (isObject(value) ? value['timestamp'] : undefined));
  return Number.isFinite(seconds) ? seconds * 1_000 : undefined;
}

/** Applies a function to each change of a body, as a list of one; to the whole body if it has another structure. */
function eachChange(body: unknown, prune: (part: unknown) => unknown): unknown {
  if (!isObject(body)) return prune(body);
  const name = Array.isArray(body['entry']) ? 'entry' : 'changes';
  const parts = body[name];
  if (!Array.isArray(parts)) return prune(body);
  const rest = parts.flatMap(part => (name === 'entry' ? [eachChange(part, prune)] : (prune([part]) as unknown[])));
  const isSame = rest.length === parts.length && rest.every((part, index) => part === parts[index]);
  return isSame ? body : { ...body, [name]: rest };
}
