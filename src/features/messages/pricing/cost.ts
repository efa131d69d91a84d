import type { PriceTable } from '../../../core/price-table.ts';
import { HOUR } from '../../../platform/clock.ts';
import type { MoneyShape } from '../../../schema/money.ts';
import { moneyText } from './amount.ts';
import type { PriceRow } from './pricing.ts';

/**
 * Cost of a message by the deployment's price table at the hour of its acceptance, as in reports; 0 if it is not billable.
 * @returns null without a table, and where it has no price
 */
export function costOf(
  prices: PriceTable | undefined,
  { country, category, is_billable: isBillable, occurred_at: occurredAt }: PriceRow,
): MoneyShape | null {
  const atMs = Math.floor(Date.parse(occurredAt) / HOUR) * HOUR;
  const price = prices?.priceOf(country, category ?? '', atMs);
  return price ? { amount: moneyText(isBillable ? price.amount : 0n), currency: price.currency } : null;
}
