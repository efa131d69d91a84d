import type { Db } from '../../database/database.ts';
import { currentIds } from './state.sql.ts';

/** The ids of conversations, or of those that merges have folded them into; ids that do not exist stay as they are. */
export const currentConversationIds = (db: Db, tenantId: number, ids: readonly number[]): Promise<number[]> =>
  currentIds(db, tenantId, ids);
