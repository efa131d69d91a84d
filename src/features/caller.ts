import type { Context, Principal } from '../context.ts';
import { CodedError, unauthorized } from '../errors.ts';
import type { Scope } from '../scopes.ts';

/** Who calls. Scopes have been checked by the field; this only says so to the compiler, and refuses should one be missing. */
export function callerOf(context: Pick<Context, 'principal'>): Principal {
  if (!context.principal) throw unauthorized();
  return context.principal;
}

/** The tenant that every statement of this operation is restricted to. */
export const tenantOf = (context: Context): number => callerOf(context).tenant.id;

/** For calls that no field of the schema stands before. @throws INSUFFICIENT_SCOPE */
export function requireScope({ scopes }: Pick<Principal, 'scopes'>, scope: Scope): void {
  if (scopes.has(scope)) return;
  throw new CodedError('INSUFFICIENT_SCOPE', `This token lacks the scope ${scope}.`, {
    required: [scope],
    granted: [...scopes],
  });
}
