import type { Context } from '../../context.ts';
import { notFound } from '../../errors.ts';
import { callerOf } from '../caller.ts';
import { once } from '../idempotency/once.ts';
import { createToken, type TokenRequest } from './create.ts';
import { type AccessTokenRow, getTokens } from './store.ts';

export interface IssuedToken {
  readonly accessToken: AccessTokenRow;
  /** Null in the answer to a repeated request: only the hash was kept. */
  readonly token: string | null;
}

/** Makes a token for the caller's tenant, never wider than the caller's own. @throws VALIDATION_ERROR by field */
export function issueToken(
  context: Context,
  request: TokenRequest,
  key: string | null | undefined,
): Promise<IssuedToken> {
  const { tenant, ...grant } = callerOf(context);
  return once<IssuedToken>(
    context,
    { operation: 'createAccessToken', key, input: request },
    {
      run: trx => createToken(trx, tenant.id, request, grant, context.clock.now()),
      store: ({ accessToken }) => ({ id: accessToken.id }),
      again: async stored => {
        const [accessToken] = await getTokens(context.db.write, tenant.id, [(stored as { id: number }).id]);
        if (!accessToken) throw notFound('AccessToken');
        return { accessToken, token: null };
      },
    },
  );
}
