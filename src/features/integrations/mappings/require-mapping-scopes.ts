import type { Principal } from '../../../core/principal.ts';
import { requireScopes } from '../../../core/principal.ts';
import type { Scope } from '../../../core/scopes.ts';

/** Effects of a mapping, stored or not. */
export interface MappingEffects {
  readonly template?: unknown;
  readonly groups?: readonly unknown[] | undefined;
}

/**
 * Scopes for the effects of a mapping, which runs without a token: it creates contacts, adds them to groups and sends templates.
 */
function scopesOfMappings(mappings: readonly MappingEffects[]): Scope[] {
  const scopes: Scope[] = [];
  if (mappings.length > 0) scopes.push('contacts:write');
  if (mappings.some(({ groups }) => groups !== undefined && groups.length > 0)) scopes.push('groups:write');
  if (mappings.some(({ template }) => template != null)) scopes.push('messages:send');
  return scopes;
}

/**
 * Requires that the token has the scopes for the effects of a mapping: writing a mapping, knowing its integration's secret or replaying a
 * payload decides who is messaged. @throws INSUFFICIENT_SCOPE
 */
export const requireMappingScopes = (principal: Principal, mappings: readonly MappingEffects[]): void =>
  requireScopes(principal, scopesOfMappings(mappings));
