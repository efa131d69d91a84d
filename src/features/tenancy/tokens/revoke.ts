import type { Db } from '../../../database/database.ts';
import type { Author } from '../audit/author.ts';
import { record } from '../audit/record.ts';
import type { AccessTokenRow } from './store.ts';
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
