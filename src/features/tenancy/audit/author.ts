import type { Author } from '../../../core/author.ts';
import { callerOf } from '../../../core/principal.ts';
import type { Context } from '../../../schema/context.ts';

/** The operator, with the `parley` command. */
export const COMMAND_LINE: Author = { kind: 'system', id: null, name: 'command line' };

/** The caller of an operation. */
export function authorOf(context: Pick<Context, 'principal'>): Author {
  const { tokenId, tokenName, session } = callerOf(context);
  if (session) return { kind: 'staff', id: session.staffId, name: session.staffName };
  return { kind: 'token', id: tokenId, name: tokenName };
}
