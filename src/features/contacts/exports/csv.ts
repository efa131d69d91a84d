/**
 * One line of CSV (RFC 4180), with its line break. Lists are joined by semicolons, other objects are JSON, null is empty.
 *
 * A text that a spreadsheet would execute as a formula begins with an apostrophe (OWASP, CSV injection). Numbers and phone numbers
 * are no formulas and stay as they are.
 */
export const csvLine = (values: readonly unknown[]): string => `${values.map(cellOf).join(',')}\r\n`;

function cellOf(value: unknown): string {
  const text = guarded(textOf(value));
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

function textOf(value: unknown): string {
  if (value === null || value === undefined) return '';
  if (Array.isArray(value)) return value.map(textOf).join('; ');
  return typeof value === 'object' ? JSON.stringify(value) : String(value);
}

/** Full-width signs count too: spreadsheets of East Asia read them as the plain ones. */
const FORMULA = /^\s*[=+\-@\t\r|%＝＋－＠]/u;
const NUMBER = /^[+-]?\d+(\.\d+)?$/;

const guarded = (text: string): string => (FORMULA.test(text) && !NUMBER.test(text) ? `'${text}` : text);
