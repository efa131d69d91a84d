import type { Context } from '../../context.ts';
import { notFound } from '../../errors.ts';
import { tenantOf } from '../caller.ts';
import { monthOf } from '../usage/month.ts';
import type { AccountRow } from './account.ts';
import { getAccount } from './store.ts';

/** The caller's account with what the month that it is now (UTC) has used: one statement, whatever is selected of it. */
export async function readAccount(context: Context): Promise<AccountRow> {
  const account = await getAccount(context.db.read, tenantOf(context), monthOf(context.clock.now()));
  if (!account) throw notFound('Account');
  return account;
}
