import { localeOf } from './date-texts.ts';

interface Money {
  /** An exact decimal number as text. */
  readonly amount: string;
  readonly currency: string;
}

/** Sums of money as people write them, one for each currency. Small prices keep four digits. */
export const moneyText = (sums: readonly Money[], language: string): string =>
  sums
    .map(({ amount, currency }) =>
      new Intl.NumberFormat(localeOf(language), {
        style: 'currency',
        currency,
        maximumFractionDigits: Math.abs(Number(amount)) < 1 ? 4 : 2,
        minimumFractionDigits: 2,
      }).format(Number(amount)),
    )
    .join(' + ');
