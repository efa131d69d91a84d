import type { Author } from '../../../core/author.ts';
import { DAY } from '../../../platform/clock.ts';
import type { SecretBox } from '../../../platform/crypto.ts';

export const REASONS = ['subject_request', 'retention', 'other'] as const;
export type ErasureReason = (typeof REASONS)[number];

/** Kinds of erased data that a receipt counts. */
export type ErasedKind =
  | 'contact'
  | 'conversation'
  | 'message'
  | 'message_cancelled'
  | 'message_in_flight'
  | 'file'
  | 'otp'
  | 'event'
  | 'network_webhook'
  | 'webhook_delivery'
  | 'webhook_delivery_cancelled'
  | 'idempotency_key'
  | 'order_payload'
  | 'file_name'
  | 'export';

export type RetainedKind = 'opt_out' | 'event' | 'network_webhook' | 'usage';

export type Counts<Kind extends string> = { readonly [K in Kind]?: number };

/** A receipt as stored. */
export interface ReceiptRow {
  readonly id: string;
  readonly contact_id: number;
  readonly subject_digest: Buffer;
  readonly reason: ErasureReason;
  readonly author: Author;
  readonly requested_at: string;
  readonly completed_at: string | null;
  readonly erased: Counts<ErasedKind>;
  readonly retained: Counts<RetainedKind>;
  readonly signature: Buffer | null;
}

/** A count of a receipt, as users see it. */
export interface DataCount {
  readonly kind: string;
  readonly count: number;
  /** Why the data is kept; null for erased data. */
  readonly reason: string | null;
}

/** A receipt as published in events, by the command line and the API. Contains no personal data. */
export interface PublicReceipt {
  readonly id: string;
  readonly contact_id: number;
  /** Hex. */
  readonly subject_digest: string;
  readonly reason: ErasureReason;
  readonly author: Author;
  readonly requested_at: string;
  readonly completed_at: string | null;
  readonly erased: readonly DataCount[];
  readonly retained: readonly DataCount[];
  /** Hex; null until it is complete. */
  readonly signature: string | null;
}

/** Part of the signed text: changing a reason invalidates the signatures of existing receipts. */
const RETENTION_REASONS: Readonly<Record<RetainedKind, string>> = {
  opt_out: 'Keyed digests of the identities, so that an import or a message does not undo the opt-out.',
  event: 'Blanked rows keep the places of the log, and go with it.',
  network_webhook: 'What was about other people in the same webhooks, and that they were received.',
  usage: 'Counters and costs, which name nobody.',
};

const countsOf = <Kind extends string>(counts: Counts<Kind>, reasons?: Readonly<Record<Kind, string>>): DataCount[] =>
  (Object.entries(counts) as [Kind, number][]).map(([kind, count]) => ({
    kind,
    count,
    reason: reasons?.[kind] ?? null,
  }));

export const publicReceipt = (row: ReceiptRow): PublicReceipt => ({
  id: row.id,
  contact_id: row.contact_id,
  subject_digest: row.subject_digest.toString('hex'),
  reason: row.reason,
  author: row.author,
  requested_at: row.requested_at,
  completed_at: row.completed_at,
  erased: countsOf(row.erased),
  retained: countsOf(row.retained, RETENTION_REASONS),
  signature: row.signature?.toString('hex') ?? null,
});

/**
 * Data that is retained, with the time of its deletion where known. The time is not signed, because it follows the retention
 * period of the deployment. Opt-outs and usage are kept, and so are webhooks that could not be applied.
 */
export function retainedUntil(
  row: ReceiptRow,
  eventsDays: number,
): (DataCount & { readonly expiresAt: string | null })[] {
  const lastEventAt = row.completed_at;
  const eventsExpireAt =
    lastEventAt === null ? null : new Date(Date.parse(lastEventAt) + eventsDays * DAY).toISOString();
  return publicReceipt(row).retained.map(data => ({
    ...data,
    expiresAt: data.kind === 'event' ? eventsExpireAt : null,
  }));
}

/** Signs a completed receipt, so that the holder of the secret key can verify it. */
export function signatureOf(secrets: Pick<SecretBox, 'permanentMac'>, tenantId: number, row: ReceiptRow): Buffer {
  const { signature: _unsigned, ...shown } = publicReceipt(row);
  return secrets.permanentMac('erasure receipt', JSON.stringify([tenantId, shown]));
}
