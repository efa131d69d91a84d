import type { Db } from './database.ts';

/**
 * Locks the tenant's counters of contacts and staff until the transaction ends: creations, merges and other identity changes of a
 * tenant are serialised by it. Lock order: before any contact.
 */
export async function lockTenantUsage(trx: Db, tenantId: number): Promise<void> {
  await trx.selectFrom('tenant_usage').select('tenant_id').where('tenant_id', '=', tenantId).forUpdate().execute();
}
