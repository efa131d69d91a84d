import type { Author } from '../../../core/author.ts';

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
