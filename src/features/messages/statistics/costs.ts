import type { PriceTable } from '../../../core/price-table.ts';
import type { MoneyShape } from '../../../schema/money.ts';
import { Sums } from '../pricing/amount.ts';
import type { CountRequest, CountRow } from './statistics.sql.ts';

/** Columns that a price depends on. */
const COLUMNS = ['category', 'country', 'is_billable'] as const;

/** Adds up the costs of counted messages by the prices of the hour in which each was accepted. */
export class Costs {
  readonly #prices: PriceTable;
  /** Starts of intervals, and the times between them at which prices change. */
  readonly #starts: readonly number[];
  /** The interval of each start, from 1. */
  readonly #intervals: readonly number[];
  readonly #byKey = new Map<string, { readonly sums: Sums; unpriced: number }>();
  readonly #total = new Sums();

  constructor(prices: PriceTable, starts: readonly number[], untilMs: number) {
    this.#prices = prices;
    // Of the start of the first interval, which may be before the range: prices may have changed between the two.
    const changes = prices.boundaries.filter(ms => ms > (starts[0] ?? untilMs) && ms < untilMs);
    this.#starts = [...new Set([...starts, ...changes])].sort((a, b) => a - b);
    let interval = 0;
    this.#intervals = this.#starts.map(ms => (ms === starts[interval] ? ++interval : interval));
  }

  /** The request with what prices depend on. */
  extend(request: CountRequest): CountRequest {
    return { ...request, starts: this.#starts, columns: [...new Set([...request.columns, ...COLUMNS])] };
  }

  /** @param place in the extended starts, from 1 @returns the interval, from 1 */
  intervalOf = (place: number): number => this.#intervals[place - 1] ?? 1;

  add(key: string, { place, category, country, is_billable: isBillable, messages }: CountRow): void {
    if (isBillable !== true) return;
    const price = this.#prices.priceOf(String(country) || null, String(category), this.#starts[place - 1] ?? 0);
    const sum = this.#byKey.get(key) ?? { sums: new Sums(), unpriced: 0 };
    this.#byKey.set(key, sum);
    if (!price) {
      sum.unpriced += messages;
      return;
    }
    const amount = price.amount * BigInt(messages);
    sum.sums.add(amount, price.currency);
    this.#total.add(amount, price.currency);
  }

  of = (key: string): readonly MoneyShape[] => this.#byKey.get(key)?.sums.money() ?? [];
  unpricedOf = (key: string): number => this.#byKey.get(key)?.unpriced ?? 0;
  total = (): readonly MoneyShape[] => this.#total.money();
}
