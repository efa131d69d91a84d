import type { Feature } from '../tenants/feature.ts';

/** A tenant with its plan and what it uses of it, as one statement reads them. A maximum of null: unlimited. */
export interface AccountRow {
  readonly id: number;
  readonly slug: string;
  readonly name: string;
  readonly status: 'active' | 'suspended';
  readonly window_policy: 'network' | 'refuse';
  readonly created_at: string;
  readonly plan_id: number;
  readonly plan_name: string;
  readonly plan_expires_at: string | null;
  readonly calls_per_minute: number;
  readonly features: readonly Feature[];
  /** The month in which conversations and messages are counted: its first day, UTC, such as 2026-12-01. */
  readonly month: string;
  readonly contacts: number;
  readonly max_contacts: number | null;
  readonly conversations: number;
  readonly max_conversations: number | null;
  readonly messages: number;
  readonly max_messages: number | null;
  readonly staff: number;
  readonly max_staff: number | null;
}

/** What a plan limits by number, in the words of FEATURE_LIMIT_EXCEEDED. */
export const COUNTED = ['contacts', 'conversations', 'messages', 'staff'] as const;
export type Counted = (typeof COUNTED)[number];

export type SubscriptionStatus = 'active' | 'expired' | 'suspended';

/**
 * How a tenant's subscription stands.
 *
 * An expired one is told and refuses nothing. The date is what the operator's billing last wrote; a payment that arrives a
 * day late would otherwise silence the one-time codes and order messages of a business at midnight, with nobody watching.
 * To turn a tenant away is a decision, and has a command: `parley tenant update <slug> --status suspended`.
 */
export function subscriptionStatus(
  { status, plan_expires_at: expiresAt }: Pick<AccountRow, 'status' | 'plan_expires_at'>,
  nowMs: number,
): SubscriptionStatus {
  if (status === 'suspended') return 'suspended';
  return expiresAt !== null && Date.parse(expiresAt) <= nowMs ? 'expired' : 'active';
}
