import { callerOf } from '../../../core/principal.ts';
import type { Context } from '../../../schema/context.ts';

export type AuthorKind = 'token' | 'staff' | 'bot' | 'campaign' | 'integration' | 'otp' | 'phone_app' | 'system';

/** Who did something, with the name at that time. */
export interface Author {
  readonly kind: AuthorKind;
  /** Id of the token, staff member, …; null if it has no row. */
  readonly id: number | null;
  readonly name: string;
}

/** The operator, with the `parley` command. */
export const COMMAND_LINE: Author = { kind: 'system', id: null, name: 'command line' };

/** The caller of an operation. */
export function authorOf(context: Pick<Context, 'principal'>): Author {
  const { tokenId, tokenName } = callerOf(context);
  return { kind: 'token', id: tokenId, name: tokenName };
}
