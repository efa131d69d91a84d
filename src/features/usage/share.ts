import type { Db } from '../../platform/database.ts';
import { shareOut } from './month.ts';
import { grant, lockMonth, planLimits } from './store.ts';

/**
 * Hands out what is left of the plan's month anew, with the month's counters locked until the transaction ends: when a month
 * begins, when a row has used up its part, and when the plan changes.
 *
 * @param first the row that is served first
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
