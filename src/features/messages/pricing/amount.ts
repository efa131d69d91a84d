import type { MoneyShape } from '../../../schema/money.ts';

/** Amounts of money are whole numbers of 10^-10 units of their currency. */

const DIGITS = 10;

/** @param text decimal digits with at most ten decimals */
export function amountOf(text: string): bigint {
  const [whole = '0', fraction = ''] = text.split('.');
  return BigInt(whole + fraction.padEnd(DIGITS, '0'));
}

/** With two decimals, or as many more as it takes to be exact. */
export function moneyText(amount: bigint): string {
  const digits = amount.toString().padStart(DIGITS + 1, '0');
  const fraction = digits.slice(-DIGITS).replace(/0+$/, '').padEnd(2, '0');
  return `${digits.slice(0, -DIGITS)}.${fraction}`;
}

/** Sums by currency. */
export class Sums {
  readonly #byCurrency = new Map<string, bigint>();

  add(amount: bigint, currency: string): void {
    this.#byCurrency.set(currency, (this.#byCurrency.get(currency) ?? 0n) + amount);
  }

  money(): MoneyShape[] {
    return [...this.#byCurrency]
      .sort(([one], [other]) => (one < other ? -1 : 1))
      .map(([currency, amount]) => ({ amount: moneyText(amount), currency }));
  }
}
