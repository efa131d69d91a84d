import { notFound } from '../../../core/errors.ts';
import { tenantOf } from '../../../core/principal.ts';
import type { Context } from '../../../schema/context.ts';
import { monthOf } from '../usage/usage.ts';
import { getAccount } from './account.sql.ts';
import type { AccountRow } from './account.ts';

/** Reads the caller's account with the usage of the current month (UTC), in one statement. */
export async function readAccount(context: Context, db = context.db.read): Promise<AccountRow> {
  const account = await getAccount(db, tenantOf(context), monthOf(context.clock.now()));
  if (!account) throw notFound('Account');
  return account;
}
