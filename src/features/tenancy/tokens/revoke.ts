import type { Author } from '../../../core/author.ts';
import { notFound } from '../../../core/errors.ts';
import { tenantOf } from '../../../core/principal.ts';
import type { Db } from '../../../database/database.ts';
import type { Context } from '../../../schema/context.ts';
import { authorOf } from '../audit/author.ts';
import { record } from '../audit/record.ts';
import { once } from '../idempotency/once.ts';
import { type AccessTokenRow, getTokens } from './store.ts';
import { endToken } from './tokens.sql.ts';

/** Revokes a token, with an audit entry. Revoking it again keeps the first time. @returns undefined if there is no such token */
export async function revokeToken(
  trx: Db,
  tenantId: number,
  id: number,
  author: Author,
): Promise<AccessTokenRow | undefined> {
  const ended = await endToken(trx, tenantId, id);
  if (ended?.is_new) await record(trx, tenantId, { author, action: 'token.revoked', subject: `token:${id}` });
  return ended?.token;
}

/** Revokes a token of the caller's tenant, in every process at once. @throws NOT_FOUND */
export async function revokeAccessToken(
  context: Context,
  id: number,
  key: string | null | undefined,
): Promise<AccessTokenRow> {
  const tenantId = tenantOf(context);
  const found = (row: AccessTokenRow | undefined): AccessTokenRow => {
    if (!row) throw notFound('AccessToken');
    return row;
  };
  const token = await once(
    context,
    { operation: 'revokeAccessToken', key, input: { id } },
    {
      run: async trx => found(await revokeToken(trx, tenantId, id, authorOf(context))),
      store: () => ({ id }),
      rebuild: async () => found((await getTokens(context.db.write, tenantId, [id]))[0]),
    },
  );
  context.tokens.revoked(tenantId);
  return token;
}
