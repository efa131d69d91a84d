import { sql } from 'kysely';
import { compileOnce } from '../../../database/compile-once.ts';
import type { Db } from '../../../database/database.ts';
import { currentConversationId } from '../../conversations/columns.ts';

/** The person and the channel of a conversation; of one that merges have folded into another, of that one. */
const readConversation = compileOnce((db, tenantId: number, id: number) => ({
  compile: () =>
    sql<{ contact_id: number; channel_id: number }>`
      select v.contact_id, v.channel_id from conversations v
      where v.tenant_id = ${tenantId} and v.id = ${currentConversationId(tenantId, id)}`.compile(db),
}));

export const conversationOf = async (
  db: Db,
  tenantId: number,
  id: number,
): Promise<{ readonly contact_id: number; readonly channel_id: number } | undefined> =>
  (await readConversation(db, tenantId, id))[0];
