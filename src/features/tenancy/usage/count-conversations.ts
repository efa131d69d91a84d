import type { Db } from '../../../database/database.ts';
import { addConversations } from './usage.sql.ts';

/** Counts conversations that people started this month, also beyond the plan, because inbound messages are never rejected. */
export async function countConversations(trx: Db, tenantId: number, month: string, count: number): Promise<void> {
  if (count > 0) await addConversations(trx, tenantId, month, count);
}
