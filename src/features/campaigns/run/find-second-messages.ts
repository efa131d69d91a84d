import type { Db } from '../../../database/database.ts';
import { findMergedMessages } from './outbox.sql.ts';

/**
 * Finds second messages of a campaign to one person: two recipients were merged while both waited. The campaign drops them soon
 * (`withdrawMerged`); until then they may not be sent.
 * @param messages of campaigns, with the contacts that get them
 */
export const findSecondMessages = async (
  db: Db,
  tenantId: number,
  messages: Parameters<typeof findMergedMessages>[2],
): Promise<ReadonlySet<string>> => new Set(await findMergedMessages(db, tenantId, messages));
