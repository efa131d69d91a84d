import type { Feature } from '../../../core/plan-features.ts';
import type { Settings } from './settings.ts';

/** A tenant with its settings, plan and usage, read in one statement. A maximum of null: unlimited. */
export interface AccountRow extends Settings {
  readonly id: number;
  readonly slug: string;
  readonly name: string;
  readonly status: 'active' | 'suspended';
  /** Retention of messages; null: they are kept. */
  readonly keep_messages_days: number | null;
  readonly created_at: string;
  readonly plan_id: number;
  readonly plan_name: string;
  readonly plan_expires_at: string | null;
  readonly calls_per_minute: number;
  readonly features: readonly Feature[];
  /** First day (UTC) of the month in which conversations and messages are counted, for example 2026-12-01. */
  readonly month: string;
  readonly contacts: number;
  readonly max_contacts: number | null;
  readonly conversations: number;
  readonly max_conversations: number | null;
  readonly messages: number;
  readonly max_messages: number | null;
  readonly staff: number;
  readonly max_staff: number | null;
  /** Kept files of messages. */
  readonly media_files: number;
  readonly media_bytes: number;
}

/** Numeric limits of a plan, as named in FEATURE_LIMIT_EXCEEDED. */
export const COUNTED = ['contacts', 'conversations', 'messages', 'staff'] as const;
export type Counted = (typeof COUNTED)[number];

export type SubscriptionStatus = 'active' | 'expired' | 'suspended';

/**
 * The state of a tenant's subscription.
 *
 * An expired subscription is reported but blocks nothing. The date is what the operator's billing last wrote; a payment a day
 * late would otherwise stop a business's one-time codes and order messages at midnight. Blocking a tenant is an explicit
 * decision: `parley tenant update <slug> --status suspended`.
 */
export function subscriptionStatus(
  { status, plan_expires_at: expiresAt }: Pick<AccountRow, 'status' | 'plan_expires_at'>,
  nowMs: number,
): SubscriptionStatus {
  if (status === 'suspended') return 'suspended';
  return expiresAt !== null && Date.parse(expiresAt) <= nowMs ? 'expired' : 'active';
}

export interface UsageCount {
  readonly current: number;
  /** Null: unlimited. */
  readonly limit: number | null;
}

export const usageOf = (account: AccountRow, feature: Counted): UsageCount => ({
  current: account[feature],
  limit: account[`max_${feature}`],
});

/** Never below 0: inbound messages and a change to a smaller plan can exceed the limit. Null: unlimited. */
export const remainingOf = ({ current, limit }: UsageCount): number | null =>
  limit === null ? null : Math.max(0, limit - current);

/**
 * The used percentage of a limit, with two decimals; null: unlimited. It is 100 or more exactly if nothing remains: 49,999 of 50,000
 * are 99.99, and a limit of 0 is always used up.
 */
export function percentageOf({ current, limit }: UsageCount): number | null {
  if (limit === null) return null;
  if (limit === 0) return 100;
  const rounded = Math.round((current * 10_000) / limit) / 100;
  return current < limit ? Math.min(rounded, 99.99) : rounded;
}

/** Start of a month, given by its first day, and of the next month, in ISO 8601. */
export function periodOf(month: string): { readonly start: string; readonly end: string } {
  const start = new Date(`${month}T00:00:00.000Z`);
  const end = new Date(start);
  end.setUTCMonth(end.getUTCMonth() + 1);
  return { start: start.toISOString(), end: end.toISOString() };
}
