import { newId } from '../../../core/ids.ts';
import type { Db } from '../../../database/database.ts';
import { type AuditRecord, insertAuditEntry } from './store.ts';

/**
 * Adds an entry to the audit log of a tenant, in the transaction of the recorded change.
 * @example await record(trx, tenantId, { author: authorOf(context), action: 'token.revoked', subject: `token:${id}` })
 */
export const record = (trx: Db, tenantId: number, entry: AuditRecord): Promise<void> =>
  insertAuditEntry(trx, tenantId, newId(), entry);
