import { notFound } from '../../core/errors.ts';
import type { Db } from '../../database/database.ts';
import { requireActiveChannel } from '../channels/require-channel.ts';
import { type Account, listAccounts } from './store.ts';

/**
 * The business accounts of a call: that of a channel, that of the default channel, or all of the tenant.
 *
 * @returns at least one account with an active channel
 * @throws NOT_FOUND for an unknown channel, MESSAGING_NOT_CONFIGURED if no channel is active
 */
export async function requireAccounts(db: Db, tenantId: number, which: number | 'default' | 'all'): Promise<Account[]> {
  const accounts = await listAccounts(db, tenantId, which);
  const active = accounts.filter(({ status }) => status === 'active');
  if (active.length > 0) return active;
  return [requireActiveChannel(accounts[0], typeof which === 'number', 'channelId')];
}

/** The business account of a channel; undefined: of the default channel. @throws like `requireAccounts` */
export async function requireAccount(db: Db, tenantId: number, channelId: number | undefined): Promise<Account> {
  const [account] = await requireAccounts(db, tenantId, channelId ?? 'default');
  if (!account) throw notFound('Channel');
  return account;
}
