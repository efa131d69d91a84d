import { notFound } from '../../errors.ts';
import type { Db } from '../../platform/database.ts';
import { requireUsable } from '../channels/usable.ts';
import { type Account, listSources } from './syncs-store.ts';

/**
 * The business accounts that a call is about: of a channel, of the default channel, or all of the tenant.
 *
 * @returns at least one
 * @throws NOT_FOUND for an unknown channel, MESSAGING_NOT_CONFIGURED where no channel is active
 */
export async function sourcesOf(db: Db, tenantId: number, which: number | 'default' | 'all'): Promise<Account[]> {
  const sources = await listSources(db, tenantId, which);
  const active = sources.filter(({ status }) => status === 'active');
  if (active.length > 0) return active;
  return [requireUsable(sources[0], typeof which === 'number')];
}

/** As `sourcesOf`, where there can be only one. */
export async function sourceOf(db: Db, tenantId: number, channelId: number | undefined): Promise<Account> {
  const [source] = await sourcesOf(db, tenantId, channelId ?? 'default');
  if (!source) throw notFound('Channel');
  return source;
}
