import type { Author } from '../../../core/author.ts';
import type { Db } from '../../../database/database.ts';
import { lockTenantUsage } from '../../../database/tenant-lock.ts';
import { lockOutbox } from '../merging/merge.sql.ts';
import { type MergeRequest, mergeContacts } from '../merging/merge.ts';
import { lockContactRows } from '../store.ts';
import { findShared } from './persons.sql.ts';
import { renamePortfolio } from './store.ts';

const NETWORK: Author = { kind: 'system', id: null, name: 'network' };

/**
 * Moves user ids from one portfolio to another, once the two are known to be the same; `waba:<id>` stands for the unknown portfolio
 * of an account. Contacts that share a user id are merged.
 *
 * Lock order: tenant_usage, contacts by id, then their outbox. Call it before the transaction locks any of those.
 */
export async function adoptPortfolio(
  trx: Db,
  tenantId: number,
  from: string,
  to: string,
  nowMs: number,
  onCountedTwice?: MergeRequest['onCountedTwice'],
): Promise<void> {
  await lockTenantUsage(trx, tenantId);
  const groups = groupsOf(await findShared(trx, tenantId, from, to));
  const ids = groups.flat();
  if (ids.length > 0) {
    await lockContactRows(trx, tenantId, ids);
    await lockOutbox(trx, tenantId, ids);
    for (const group of groups)
      await mergeContacts(trx, tenantId, { ids: group, reason: 'network', author: NETWORK, nowMs, onCountedTwice });
  }
  await renamePortfolio(trx, tenantId, from, to);
}

/** Joins pairs of contacts to groups: the pairs A, B and B, C are the group A, B, C. */
function groupsOf(pairs: readonly { readonly one: number; readonly other: number }[]): number[][] {
  const groupOf = new Map<number, Set<number>>();
  for (const { one, other } of pairs) {
    const [a, b] = [groupOf.get(one) ?? new Set([one]), groupOf.get(other) ?? new Set([other])];
    for (const id of b) a.add(id);
    for (const id of a) groupOf.set(id, a);
  }
  return [...new Set(groupOf.values())].map(group => [...group].sort((a, b) => a - b));
}
