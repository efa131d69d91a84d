import { parse } from 'csv-parse/browser/esm/sync';

export interface CsvTable {
  readonly columns: readonly string[];
  readonly rows: readonly (readonly string[])[];
}

const DELIMITERS = [',', ';', '\t'] as const;

/** The text of a file: UTF-8, UTF-16 with its mark, or what spreadsheets on Windows write if nothing else is chosen. */
export function decodeText(bytes: ArrayBuffer): string {
  const [first, second] = new Uint8Array(bytes, 0, Math.min(2, bytes.byteLength));
  if (first === 0xff && second === 0xfe) return new TextDecoder('utf-16le').decode(bytes);
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    return new TextDecoder('windows-1252').decode(bytes);
  }
}

/** The delimiter that the first line has most, outside of quotes. */
function delimiterOf(text: string): string {
  const [first = ''] = text.split(/\r?\n/, 1);
  const plain = first.replaceAll(/"[^"]*"/g, '');
  const counts = DELIMITERS.map(delimiter => plain.split(delimiter).length);
  return DELIMITERS[counts.indexOf(Math.max(...counts))] ?? ',';
}

/**
 * Reads CSV (RFC 4180) with a line of column names; the delimiter is a comma, a semicolon or a tab.
 * @returns undefined if it has no row, or a quoted field that does not end
 */
export function readCsv(text: string): CsvTable | undefined {
  try {
    const [header, ...rows] = parse(text, {
      bom: true,
      delimiter: delimiterOf(text.replace(/^\uFEFF/, '')),
      relax_column_count: true,
      relax_quotes: true,
      skip_empty_lines: true,
    }) as unknown as readonly (readonly string[])[];
    if (!header || rows.length === 0) return undefined;
    return { columns: header.map(name => name.trim()), rows };
  } catch {
    // The parser throws for a quote that does not end: the caller shows that the file is not CSV.
    return undefined;
  }
}

const quoted = (cell: string): string => (/[",\r\n]/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell);

/** Writes CSV with commas. */
export const writeCsv = (columns: readonly string[], rows: readonly (readonly string[])[]): string =>
  [columns, ...rows].map(cells => `${cells.map(quoted).join(',')}\r\n`).join('');

/** Offers the rows of a table that have a fault, with the fault, as a file. */
export function saveFaulty(
  name: string,
  { columns, rows }: CsvTable,
  errors: readonly { readonly row: number; readonly message: string }[],
): void {
  const faulty = errors.map(({ row, message }) => {
    const cells = rows[row - 1] ?? [];
    // Values beyond the columns stay there, behind the fault: in columns of their own they would no longer be one.
    return [...columns.map((_, place) => cells[place] ?? ''), message, ...cells.slice(columns.length)].map(guarded);
  });
  saveFile(`${name}-errors.csv`, writeCsv([...columns, 'error'], faulty));
}

/** A text that a spreadsheet would execute as a formula begins with an apostrophe, as in exports. A phone number stays. */
export const guarded = (cell: string): string =>
  /^[=@\t\r]/.test(cell) || /^[+-](?![\d\s().-]*$)/.test(cell) ? `'${cell}` : cell;

/** Offers a text as a file, which the browser saves. */
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
