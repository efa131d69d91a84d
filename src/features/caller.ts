import type { Context, Principal } from '../context.ts';
import { unauthorized } from '../errors.ts';

/** Who calls. Scopes have been checked by the field; this only says so to the compiler, and refuses should one be missing. */
export function callerOf(context: Context): Principal {
  if (!context.principal) throw unauthorized();
  return context.principal;
}

/** The tenant that every statement of this operation is restricted to. */
export const tenantOf = (context: Context): number => callerOf(context).tenant.id;
