import type { PriceTable } from '../../../core/price-table.ts';
import { ERROR_CODES } from '../../../network/cloud-api/error-codes.ts';
import type { MoneyShape } from '../../../schema/money.ts';
import { Sums } from '../../messages/pricing/amount.ts';
import type { BillableCount } from './billable-messages.sql.ts';

/** How far a campaign is, and what became of its messages. A message that was read also counts as sent and delivered. */
export interface Progress {
  /** Id of the campaign. */
  readonly id: number;
  readonly total: number;
  readonly pending: number;
  readonly skipped: number;
  readonly sent: number;
  readonly delivered: number;
  readonly read: number;
  readonly failed: number;
  readonly replied: number;
  readonly opted_out: number;
  readonly failures: readonly Failure[];
  /** Of the delivered messages; undefined: not read with it. */
  readonly cost?: readonly MoneyShape[];
}

export interface Failure {
  /** The network's; 0: refused by this gateway. */
  readonly code: number;
  readonly count: number;
}

/** Cost of messages that were counted by the boundaries of a price table. */
export function costsOf(prices: PriceTable, counts: readonly BillableCount[]): MoneyShape[] {
  const sums = new Sums();
  for (const { country, category, place, messages } of counts) {
    const sinceMs = prices.boundaries[place - 1] ?? Number.NEGATIVE_INFINITY;
    const price = prices.priceOf(country === '' ? null : country, category, sinceMs);
    if (price) sums.add(price.amount * BigInt(messages), price.currency);
  }
  return sums.money();
}

/** The network's words for a code; null for one that is not known, and for the gateway's own refusals. */
export const titleOf = (code: number): string | null => (code === 0 ? null : (ERROR_CODES.get(code)?.title ?? null));
