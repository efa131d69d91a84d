import type { Db } from '../../../database/database.ts';
import { anyShard, shareOut } from './month.ts';
import { lockMonth, planLimits } from './store.ts';
import { addConversations, grant } from './usage.sql.ts';

/**
 * Distributes what is left of the plan's month among the counter rows, which it locks: when a month begins, when a row has used up
 * its grant, and when the plan changes.
 *
 * @param first the shard that gets the remainder
 */
export async function reshareMonth(trx: Db, tenantId: number, month: string, first = 0): Promise<void> {
  const shards = await lockMonth(trx, tenantId, month);
  const limits = await planLimits(trx, tenantId);
  const messages = shareOut(
    shards.map(shard => shard.messages),
    limits.max_messages,
    first,
  );
  const conversations = shareOut(
    shards.map(shard => shard.conversations),
    limits.max_conversations,
    first,
  );
  await grant(trx, tenantId, month, messages, conversations);
}

/** Counts conversations that people started this month, also beyond the plan, because inbound messages are never rejected. */
export async function countConversations(trx: Db, tenantId: number, month: string, count: number): Promise<void> {
  if (count === 0) return;
  const shard = anyShard();
  if (await addConversations(trx, tenantId, month, shard, count, false)) return;
  // First use what other rows have left; raising this row's grant right away would exceed the plan.
  await reshareMonth(trx, tenantId, month, shard);
  if (await addConversations(trx, tenantId, month, shard, count, false)) return;
  await addConversations(trx, tenantId, month, shard, count, true);
  await reshareMonth(trx, tenantId, month, shard);
}
