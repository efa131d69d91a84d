import type { Db } from '../../database/database.ts';
import type { PublicConversation } from './conversation.ts';
import { deleteConversationsOf } from './state.sql.ts';

/** Deletes the conversations of contacts whose messages are deleted. @returns them as they were */
export const eraseConversations = (
  trx: Db,
  tenantId: number,
  contactIds: readonly number[],
): Promise<PublicConversation[]> => deleteConversationsOf(trx, tenantId, contactIds);
