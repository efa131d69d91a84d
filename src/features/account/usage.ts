import type { AccountRow, Counted } from './account.ts';

export interface UsageCount {
  readonly current: number;
  /** Null: unlimited. */
  readonly limit: number | null;
}

export const usageOf = (account: AccountRow, feature: Counted): UsageCount => ({
  current: account[feature],
  limit: account[`max_${feature}`],
});

/** Never below 0: a person who writes in is let in beyond the plan, and a smaller plan takes nothing away. Null: unlimited. */
export const remainingOf = ({ current, limit }: UsageCount): number | null =>
  limit === null ? null : Math.max(0, limit - current);

/**
 * Per cent with two decimals, such as 66.67; above 100 where more is used than allowed; null: unlimited.
 * 100 and more exactly when nothing remains: 49,999 of 50,000 are 99.99, and all of a limit of 0 is used.
 */
export function percentageOf({ current, limit }: UsageCount): number | null {
  if (limit === null) return null;
  if (limit === 0) return 100;
  const rounded = Math.round((current * 10_000) / limit) / 100;
  return current < limit ? Math.min(rounded, 99.99) : rounded;
}

/** The first instants (ISO 8601) of a month, given by its first day, and of the next one. */
export function periodOf(month: string): { readonly start: string; readonly end: string } {
  const start = new Date(`${month}T00:00:00.000Z`);
  const end = new Date(start);
  end.setUTCMonth(end.getUTCMonth() + 1);
  return { start: start.toISOString(), end: end.toISOString() };
}
