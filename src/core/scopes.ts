/** All scopes of tokens: `resource:action`. */
export const SCOPES = [
  'account:read',
  'account:write',
  'bots:read',
  'bots:write',
  'campaigns:read',
  'campaigns:write',
  'channels:read',
  'channels:write',
  'contacts:delete',
  'contacts:export',
  'contacts:read',
  'contacts:write',
  'conversations:read',
  'conversations:write',
  'costs:read',
  'documents:read',
  'documents:write',
  'events:read',
  'groups:delete',
  'groups:read',
  'groups:write',
  'integrations:read',
  'integrations:write',
  'messages:read',
  'messages:send',
  'notes:read',
  'notes:write',
  'sources:delete',
  'sources:read',
  'sources:write',
  'staff:read',
  'staff:write',
  'statuses:delete',
  'statuses:read',
  'statuses:write',
  'templates:read',
  'templates:sync',
  'templates:write',
  'tokens:read',
  'tokens:write',
  'webhooks:read',
  'webhooks:write',
] as const;

export type Scope = (typeof SCOPES)[number];

const KNOWN: ReadonlySet<string> = new Set(SCOPES);
const isScope = (text: string): text is Scope => KNOWN.has(text);

/** The name of a scope in the enum Scope of GraphQL: CONTACTS_READ. */
export const scopeWord = (scope: Scope): string => scope.replace(':', '_').toUpperCase();

/** Returns the scopes that this version knows. During an upgrade a newer process may store others, which grant nothing here. */
export const knownScopes = (stored: Iterable<string>): Scope[] => [...stored].filter(isScope);

/** Scope names of version 1 clients (`contacts.create`), accepted as aliases when a token is created. */
const DOTTED_ACTIONS: Readonly<Record<string, string>> = {
  create: 'write',
  update: 'write',
  store: 'write',
  list: 'read',
  view: 'read',
  show: 'read',
};

/**
 * Parses scopes in any accepted spelling: `contacts:read`, `contacts.create`, `contacts:*`, `*`.
 * @returns the canonical scopes, sorted, and the names that are not scopes
 */
export function parseScopes(words: readonly string[]): { scopes: Scope[]; unknown: string[] } {
  const scopes = new Set<Scope>();
  const unknown: string[] = [];
  for (const word of words.map(text => text.trim()).filter(Boolean)) {
    const matches = expand(word);
    if (matches.length === 0) unknown.push(word);
    for (const scope of matches) scopes.add(scope);
  }
  return { scopes: [...scopes].sort(), unknown };
}

function expand(word: string): Scope[] {
  if (word === '*') return [...SCOPES];
  const [resource = '', action = '', ...rest] = word.split(/[:.]/);
  if (rest.length > 0) return [];
  if (action === '*') return SCOPES.filter(scope => scope.startsWith(`${resource}:`));
  const canonical = word.includes('.') ? `${resource}:${DOTTED_ACTIONS[action] ?? action}` : word;
  return isScope(canonical) ? [canonical] : [];
}
