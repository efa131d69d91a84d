import { badInput, builder } from './builder.ts';

const AMOUNT = /^[+-]?\d{1,20}(\.\d{1,10})?$/;
const CURRENCY = /^[A-Z]{3}$/;

builder.scalarType('Decimal', {
  description: 'An exact decimal number as text, for example `64.80`.',
  specifiedByURL: 'https://www.w3.org/TR/xmlschema-2/#decimal',
  serialize: value => value,
  parseValue: value => {
    if (typeof value !== 'string' || !AMOUNT.test(value)) throw badInput('Decimal must be text such as 64.80.');
    return value;
  },
});

builder.scalarType('CurrencyCode', {
  description: 'A currency by its ISO 4217 code, for example `EUR`.',
  specifiedByURL: 'https://www.iso.org/iso-4217-currency-codes.html',
  serialize: value => value,
  parseValue: value => {
    if (typeof value !== 'string' || !CURRENCY.test(value)) throw badInput('CurrencyCode must look like EUR.');
    return value;
  },
});

export interface MoneyShape {
  /** Decimal digits, as text: binary fractions do not add up. */
  readonly amount: string;
  /** ISO 4217. */
  readonly currency: string;
}

export const Money = builder.objectRef<MoneyShape>('Money').implement({
  description: 'An amount in a currency.',
  fields: t => ({
    amount: t.expose('amount', { type: 'Decimal', description: 'Amount in units of the currency.' }),
    currency: t.expose('currency', { type: 'CurrencyCode', description: 'Currency of the amount.' }),
  }),
});

/** Parses an amount from an external source. @returns undefined unless amount and currency are well-formed */
export function moneyOf(amount: string | null, currency: string | null): MoneyShape | undefined {
  const [digits, code] = [amount?.trim() ?? '', currency?.trim().toUpperCase() ?? ''];
  return AMOUNT.test(digits) && CURRENCY.test(code) ? { amount: digits.replace(/^\+/, ''), currency: code } : undefined;
}
