import type { Author } from '../../../core/author.ts';
import type { Db } from '../../../database/database.ts';

/** Actions in the audit log. */
export type AuditAction =
  | 'account.updated'
  | 'contact.merged'
  | 'contact.merge_undone'
  | 'contact.exported'
  | 'export.created'
  | 'contact.erased'
  | 'token.created'
  | 'token.revoked'
  | 'campaign.started'
  | 'campaign.paused'
  | 'campaign.resumed'
  | 'campaign.cancelled'
  | 'staff.created'
  | 'staff.updated'
  | 'staff.deleted'
  | 'staff_session.created'
  | 'staff_session.revoked';

export interface AuditRecord {
  readonly author: Author;
  readonly action: AuditAction;
  /** `<resource>:<id>`, for example `contact:17`. */
  readonly subject: string;
  /** Ids, counts, scopes. No personal data of contacts: the audit log outlives their erasure. */
  readonly details?: Readonly<Record<string, unknown>>;
}

/** An entry as the list shows it. */
export interface AuditEntry {
  readonly id: string;
  readonly occurred_at: string;
  readonly author: Author;
  readonly action: string;
  readonly subject: string;
  readonly details: Readonly<Record<string, unknown>>;
}

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
