import type { Author } from './author.ts';

/** Actions in the audit log. */
export type AuditAction =
  | 'contact.merged'
  | 'contact.merge_undone'
  | 'contact.exported'
  | 'contact.erased'
  | 'token.created'
  | 'token.revoked';

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
