import type { PriceTable } from '../../../core/price-table.ts';
import { DAY } from '../../../platform/clock.ts';
import type { MoneyShape } from '../../../schema/money.ts';
import { Sums } from '../../messages/pricing/amount.ts';
import { LIMIT_SHARE } from '../run/protection.ts';

export interface Pace {
  /** Messages a second. */
  readonly rate: number;
  /** People a day that the network allows the portfolio; null: any number. */
  readonly dailyLimit: number | null;
  /** People in the last 24 hours. */
  readonly reached: number;
}

/**
 * Seconds until the last message is sent, by the rate and the portfolio's daily limit. Sending hours and the wait for the first wave
 * are not part of it.
 */
export function durationOf(people: number, { rate, dailyLimit, reached }: Pace): number {
  const sending = Math.ceil(people / rate);
  if (dailyLimit === null) return sending;
  const aDay = Math.max(1, Math.floor(dailyLimit * LIMIT_SHARE));
  const today = Math.max(0, aDay - reached);
  const days = people <= today ? 0 : Math.ceil((people - today) / aDay);
  return Math.max(sending, (days * DAY) / 1_000);
}

/**
 * The cost of a message to each of these people by the deployment's table.
 * @returns undefined without a table, or where it lacks a price: part of a sum would mislead
 */
export function costOfPeople(
  prices: PriceTable | undefined,
  category: string | null,
  people: readonly { readonly country: string | null; readonly count: number }[],
  nowMs: number,
): MoneyShape[] | undefined {
  if (!prices || category === null) return undefined;
  const sums = new Sums();
  for (const { country, count } of people) {
    const price = prices.priceOf(country, category, nowMs);
    if (!price) return undefined;
    sums.add(price.amount * BigInt(count), price.currency);
  }
  return sums.money();
}
