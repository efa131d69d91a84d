import { readFile } from 'node:fs/promises';
import { z } from 'zod';
import type { Config } from '../../../config.ts';
import type { PriceTable } from '../../../core/price-table.ts';
import { HOUR } from '../../../platform/clock.ts';
import { parseCsv, surplusFault } from '../../../platform/csv.ts';
import { columnsOf } from '../../../platform/csv-format.ts';
import { countryOfCode } from '../../../platform/phone-country.ts';
import { UserError } from '../../../platform/user-error.ts';
import { amountOf } from './amount.ts';
import { networkWord } from './pricing.ts';

/** Stands for all countries that the table does not name for the category. */
const ANY_COUNTRY = '*';

const instant = z
  .union(
    [z.iso.date(), z.iso.datetime({ offset: true })],
    'must be a date such as 2026-10-01, or a time such as 2026-10-01T00:00:00Z',
  )
  .transform(text => Date.parse(text))
  .refine(ms => ms % HOUR === 0, 'must be a full hour in UTC, because statistics are by the hour');

/** CSV writes what is missing as an empty field. */
const optional = <Schema extends z.ZodType>(schema: Schema) =>
  z.preprocess(value => (value === '' || value === null ? undefined : value), schema.optional());

const fields = z.strictObject({
  country: z
    .string()
    .transform(text => text.trim().toUpperCase())
    .refine(
      text => text === ANY_COUNTRY || /^[A-Z]{2}$/.test(text),
      'must be a code of two letters such as DE, or * for all others',
    ),
  category: z.string().trim().min(1).transform(networkWord),
  price: z
    .union([z.string(), z.number()])
    .transform(value => String(value).trim())
    .refine(text => /^\d{1,9}(\.\d{1,10})?$/.test(text), 'must be a decimal number such as 0.0736')
    .transform(amountOf),
  currency: z
    .string()
    .trim()
    .regex(/^[A-Z]{3}$/, 'must be a code of ISO 4217 such as EUR'),
  valid_from: optional(instant),
  valid_until: optional(instant),
});
const row = fields.refine(
  ({ valid_from: from, valid_until: until }) => from === undefined || until === undefined || from < until,
  { path: ['valid_until'], message: 'must be after valid_from' },
);
type Row = z.output<typeof row>;

/** Reads the table that PARLEY_PRICES names; undefined if it is not set. @throws UserError as `readPriceTable` */
export const configuredPrices = async ({ pricesFile }: Pick<Config, 'pricesFile'>): Promise<PriceTable | undefined> =>
  pricesFile === undefined ? undefined : readPriceTable(pricesFile);

/**
 * Reads a table of prices: a JSON array of objects, or CSV with a header line. Fields: country, category, price, currency, and
 * optionally valid_from (included) and valid_until (excluded).
 * @throws UserError that lists the faults by line or place
 */
export async function readPriceTable(file: string): Promise<PriceTable> {
  const text = await readFile(file, 'utf8').catch(error => {
    throw new UserError(
      `PARLEY_PRICES: ${file} cannot be read: ${error instanceof Error ? error.message : String(error)}`,
    );
  });
  const faults: string[] = [];
  const starts = new Map<string, { readonly place: string; readonly value: Row }>();
  const rows = rowsOf(file, text).flatMap(({ place, value, surplus }): Row[] => {
    const parsed = row.safeParse(value);
    if (surplus !== undefined) faults.push(`  ${place}: row: ${surplus}`);
    if (parsed.success) {
      const fault = contradictionOf(starts, place, parsed.data);
      if (fault !== undefined) faults.push(`  ${place}: ${fault}`);
      return [parsed.data];
    }
    faults.push(
      ...parsed.error.issues.map(({ path, message }) => `  ${place}: ${path.join('.') || 'row'}: ${message}`),
    );
    return [];
  });
  if (faults.length > 0) throw new UserError(`PARLEY_PRICES: ${file} is not valid:\n${faults.slice(0, 20).join('\n')}`);
  return priceTableOf(rows);
}

/** Why it is not known which of two prices is valid: both begin at the same time. @param starts rows by country, category and start */
function contradictionOf(
  starts: Map<string, { readonly place: string; readonly value: Row }>,
  place: string,
  value: Row,
): string | undefined {
  const key = `${value.country} ${value.category} ${value.valid_from ?? ''}`;
  const first = starts.get(key);
  if (!first) starts.set(key, { place, value });
  if (!first || (first.value.price === value.price && first.value.currency === value.currency)) return undefined;
  return `price: ${first.place} has another price for the same country, category and start`;
}

interface RawRow {
  readonly place: string;
  readonly value: unknown;
  /** Why the values may be those of other columns: a decimal comma makes two of a price. */
  readonly surplus?: string | undefined;
}

function rowsOf(file: string, text: string): RawRow[] {
  if (!/^\s*[[{]/.test(text)) return csvRows(file, text);
  try {
    const rows: unknown = JSON.parse(text);
    if (Array.isArray(rows)) return rows.map((value, index) => ({ place: `row ${index + 1}`, value }));
  } catch (error) {
    throw new UserError(`PARLEY_PRICES: ${file} is no JSON: ${error instanceof Error ? error.message : String(error)}`);
  }
  throw new UserError(`PARLEY_PRICES: ${file} must be a JSON array of objects, or CSV.`);
}

function csvRows(file: string, text: string): RawRow[] {
  const [header, ...rows] = parseCsv(text) ?? [];
  if (!header) throw new UserError(`PARLEY_PRICES: ${file} has no header, or a quoted field does not end.`);
  const names = columnsOf(header.cells);
  return rows.map(({ line, cells }) => ({
    place: `line ${line}`,
    surplus: surplusFault(cells, names.length),
    value: Object.fromEntries(names.map((name, column) => [name, cells[column]?.trim() ?? ''])),
  }));
}

function priceTableOf(rows: readonly Row[]): PriceTable {
  const keyOf = (country: string, category: string): string => `${country} ${category}`;
  // Of prices that overlap, the one that began last is valid.
  const byKey = Map.groupBy(
    rows.toSorted((a, b) => (b.valid_from ?? -Infinity) - (a.valid_from ?? -Infinity)),
    ({ country, category }) => keyOf(country, category),
  );
  const boundaries = new Set(
    rows.flatMap(({ valid_from: from, valid_until: until }) => [from ?? [], until ?? []].flat()),
  );
  return {
    boundaries: [...boundaries].sort((a, b) => a - b),
    priceOf(country, category, atMs) {
      const word = networkWord(category);
      const isValid = ({ valid_from: from, valid_until: until }: Row): boolean =>
        (from === undefined || from <= atMs) && (until === undefined || atMs < until);
      // The network charges by calling code, and its price lists name the country, not the territories that share the code.
      const names = country === null ? [ANY_COUNTRY] : [country, countryOfCode(country), ANY_COUNTRY];
      const found = names.map(name => byKey.get(keyOf(name, word))?.find(isValid)).find(row => row !== undefined);
      return found && { amount: found.price, currency: found.currency };
    },
  };
}
