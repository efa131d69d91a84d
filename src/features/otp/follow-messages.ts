import type { Db } from '../../database/database.ts';
import { writeContacts } from './codes.sql.ts';

/** Gives codes the contact of their message, after messages were moved between contacts, which are locked. */
export const followMessages = (trx: Db, tenantId: number, contactIds: readonly number[]): Promise<void> =>
  writeContacts(trx, tenantId, contactIds);
