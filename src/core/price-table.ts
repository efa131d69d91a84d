/** Prices of messages, as the deployment states them. */
export interface PriceTable {
  /** Times at which prices begin or end, ascending, in milliseconds since 1970. Between two of them prices do not change. */
  readonly boundaries: readonly number[];
  /**
   * The price of one billable message.
   * @param country ISO 3166-1 alpha-2; null if unknown
   * @param category in the network's words
   * @returns undefined if the table has none
   */
  priceOf(country: string | null, category: string, atMs: number): Price | undefined;
}

export interface Price {
  /** In 10^-10 units of the currency: binary fractions do not add up. */
  readonly amount: bigint;
  /** ISO 4217. */
  readonly currency: string;
}
