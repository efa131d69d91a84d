import type { Db } from '../../../database/database.ts';
import type { AuditEntry, AuditRecord } from './entry.ts';

export async function insertAuditEntry(db: Db, tenantId: number, id: string, entry: AuditRecord): Promise<void> {
  const { author, action, subject, details = {} } = entry;
  await db
    .insertInto('audit_log')
    .values({
      tenant_id: tenantId,
      id,
      author: JSON.stringify(author),
      action,
      subject,
      details: JSON.stringify(details),
    })
    .execute();
}

/** The latest entries, newest first. @param before the id of the last entry of the page before */
export async function listAuditEntries(
  db: Db,
  tenantId: number,
  limit: number,
  before?: string,
): Promise<AuditEntry[]> {
  let query = db
    .selectFrom('audit_log')
    .select(['id', 'occurred_at', 'author', 'action', 'subject', 'details'])
    .where('tenant_id', '=', tenantId);
  if (before !== undefined) query = query.where('id', '<', before);
  const rows = await query.orderBy('id', 'desc').limit(limit).execute();
  return rows as AuditEntry[];
}
