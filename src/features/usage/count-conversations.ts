import type { Db } from '../../platform/database.ts';
import { anyShard } from './month.ts';
import { reshareMonth } from './share.ts';
import { addConversations } from './store.ts';

/** Counts conversations that people began this month. Nobody who writes in is turned away, whatever the plan says. */
export async function countConversations(trx: Db, tenantId: number, month: string, count: number): Promise<void> {
  if (count === 0) return;
  const shard = anyShard();
  if (await addConversations(trx, tenantId, month, shard, count, false)) return;
  // What other rows have left comes first: lifting this one beside it would grant more than the plan has.
  await reshareMonth(trx, tenantId, month, shard);
  if (await addConversations(trx, tenantId, month, shard, count, false)) return;
  await addConversations(trx, tenantId, month, shard, count, true);
  await reshareMonth(trx, tenantId, month, shard);
}
