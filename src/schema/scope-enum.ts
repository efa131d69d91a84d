import { SCOPES, type Scope, scopeWord } from '../core/scopes.ts';
import { builder } from './builder.ts';

export const ScopeEnum = builder.enumType('Scope', {
  description:
    'What a token may do. REST, details of errors, and the command line write `CONTACTS_READ` as `contacts:read`.',
  values: Object.fromEntries(
    SCOPES.map(value => [scopeWord(value), { value, description: `Scope \`${value}\`.` }]),
  ) as Record<string, { value: Scope; description: string }>,
});
