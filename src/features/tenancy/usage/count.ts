import type { Db } from '../../../database/database.ts';
import { addConversations, addSends } from './usage.sql.ts';

/** Locks the counters of a month, and creates them if they are missing. Lock order: after all other rows, before the rows that are counted. */
export const lockMonth = (trx: Db, tenantId: number, month: string): Promise<void> =>
  addSends(trx, tenantId, month, 0, 0);

/** Counts messages that were scheduled, and the conversations that they begin. @throws a check violation beyond the plan */
export const countSends = addSends;

/** Counts conversations that people started this month, also beyond the plan, because inbound messages are never rejected. */
export async function countConversations(trx: Db, tenantId: number, month: string, count: number): Promise<void> {
  if (count > 0) await addConversations(trx, tenantId, month, count);
}
