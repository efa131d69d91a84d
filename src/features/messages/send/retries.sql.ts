import type { Db } from '../../../database/database.ts';
import { findMessage } from '../loaders.ts';
import type { MessageRow } from '../message.ts';

/** The message that sends a failed one again. */
export async function findRetry(db: Db, tenantId: number, messageId: string): Promise<MessageRow | undefined> {
  const row = await db
    .selectFrom('message_retries')
    .select('retry_id')
    .where('tenant_id', '=', tenantId)
    .where('message_id', '=', messageId)
    .executeTakeFirst();
  return row && findMessage(db, tenantId, row.retry_id);
}
