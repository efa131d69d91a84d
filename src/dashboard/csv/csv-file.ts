import { parse } from 'csv-parse/browser/esm/sync';
import { columnsOf, encodingOf, formatOf, isFilled } from './csv-format.ts';

export interface CsvTable {
  readonly columns: readonly string[];
  readonly rows: readonly (readonly string[])[];
}

/** The text of a file: UTF-8, UTF-16 with its mark, or what spreadsheets on Windows write if nothing else is chosen. */
export function decodeText(bytes: ArrayBuffer): string {
  const encoding = encodingOf(new Uint8Array(bytes));
  try {
    return new TextDecoder(encoding, { fatal: encoding === 'utf-8' }).decode(bytes);
  } catch {
    return new TextDecoder('windows-1252').decode(bytes);
  }
}

/**
 * Reads CSV as the gateway does, with a line of column names. Rows are numbered as there: without empty ones.
 * @returns undefined if it has no row, or a quoted field that does not end
 */
export function readCsv(given: string): CsvTable | undefined {
  const { text, options } = formatOf(given);
  try {
    const [header, ...rows] = (parse(text, options) as unknown as readonly (readonly string[])[]).filter(isFilled);
    if (!header || rows.length === 0) return undefined;
    return { columns: columnsOf(header), rows };
  } catch {
    // The parser throws for a quote that does not end: the caller shows that the file is not CSV.
    return undefined;
  }
}

/** With the other delimiters, too: the gateway looks for its own in the line of column names. */
const quoted = (cell: string): string => (/[",;\t\r\n]/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell);

/** Returns the rows as CSV, with commas. */
export const writeCsv = (columns: readonly string[], rows: readonly (readonly string[])[]): string =>
  [columns, ...rows].map(cells => `${cells.map(quoted).join(',')}\r\n`).join('');

/** Downloads the faulty rows of a table as a CSV file with their faults. */
export function saveFaulty(
  name: string,
  { columns, rows }: CsvTable,
  errors: readonly { readonly row: number; readonly message: string }[],
): void {
  const faulty = errors.map(({ row, message }) => {
    const cells = rows[row - 1] ?? [];
    // Surplus values stay after the last column, behind the fault: with columns of their own, the corrected file would not be faulty.
    return [...columns.map((_, place) => cells[place] ?? ''), message, ...cells.slice(columns.length)].map(guarded);
  });
  saveFile(`${name}-errors.csv`, writeCsv([...columns, 'error'], faulty));
}

/** A text that a spreadsheet would execute as a formula begins with an apostrophe, as in exports. A phone number stays. */
export const guarded = (cell: string): string =>
  /^[=@\t\r]/.test(cell) || /^[+-](?![\d\s().-]*$)/.test(cell) ? `'${cell}` : cell;

/** Makes the browser download a text as a file. */
export function saveFile(name: string, text: string, type = 'text/csv'): void {
  const url = URL.createObjectURL(new Blob([text], { type: `${type};charset=utf-8` }));
  const link = document.createElement('a');
  link.href = url;
  link.download = name;
  link.click();
  // After the browser has begun to read it.
  setTimeout(() => URL.revokeObjectURL(url), 10_000);
}

const folded = (name: string): string =>
  name
    .normalize('NFD')
    .toLowerCase()
    .replaceAll(/[^\p{Letter}\p{Number}]/gu, '');

/** The column that most likely has a field, by its usual names in spreadsheets and shops. */
export function guessColumn(columns: readonly string[], names: readonly string[]): string {
  const wanted = names.map(folded);
  return (
    columns.find(column => wanted.includes(folded(column))) ??
    columns.find(column => wanted.some(name => name.length > 3 && folded(column).startsWith(name))) ??
    ''
  );
}

/** Usual names of columns, by field of a contact. */
export const COLUMN_NAMES = {
  phone: ['phone', 'mobile', 'whatsapp', 'telephone', 'phone number', 'cell', 'msisdn', 'telefon', 'handy', 'tel'],
  firstName: ['first name', 'firstname', 'first', 'given name', 'name', 'vorname'],
  lastName: ['last name', 'lastname', 'last', 'surname', 'family name', 'nachname'],
  email: ['email', 'e-mail', 'mail', 'email address'],
  company: ['company', 'organisation', 'organization', 'business', 'firma'],
  address: ['address', 'street', 'strasse', 'adresse'],
  city: ['city', 'town', 'stadt', 'ort'],
  zip: ['zip', 'postal code', 'postcode', 'plz'],
  country: ['country', 'country code', 'land'],
  description: ['description', 'notes', 'note', 'comment'],
} as const satisfies Record<string, readonly string[]>;
