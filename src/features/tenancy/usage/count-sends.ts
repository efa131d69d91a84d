import type { Db } from '../../../database/database.ts';
import { monthUsage, planLimits } from './store.ts';
import { addSends } from './usage.sql.ts';

/** Locks the counters of a month, and creates them if they are missing. Lock order: after everything else but what is counted. */
export const lockMonth = (trx: Db, tenantId: number, month: string): Promise<void> =>
  addSends(trx, tenantId, month, 0, 0);

/** Counts messages that were scheduled, and the conversations that they begin. @throws a check violation beyond the plan */
export const countSends = addSends;

/** How many conversations the plan still allows in a month; null: any number. */
export async function conversationsLeft(db: Db, tenantId: number, month: string): Promise<number | null> {
  const { max_conversations: maximum } = await planLimits(db, tenantId);
  return maximum === null ? null : maximum - (await monthUsage(db, tenantId, month)).conversations;
}
