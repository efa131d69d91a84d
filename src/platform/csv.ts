import { CsvError, parse } from 'csv-parse/sync';
import { formatOf, isFilled } from './csv-format.ts';

/** A row of a CSV file, with the number of the line on which it begins, from 1. */
export interface CsvRow {
  readonly line: number;
  readonly cells: readonly string[];
}

/**
 * Parses CSV (RFC 4180): fields may be quoted, quoted ones may contain line breaks, and a quote inside is doubled. The delimiter
 * and line endings are found by `formatOf`. Empty rows are left out; a byte order mark is ignored.
 * @returns undefined if a quoted field does not end
 */
export function parseCsv(given: string): CsvRow[] | undefined {
  const { text, line: firstLine, options } = formatOf(given);
  try {
    let line = firstLine;
    const rows = parse(text, { ...options, raw: true }) as unknown as readonly {
      readonly record: readonly string[];
      readonly raw: string;
    }[];
    return rows.flatMap(({ record, raw }) => {
      // Empty lines before a record belong to its raw text.
      const [before = ''] = /^[\r\n]*/.exec(raw) ?? [];
      const startsAt = line + lineBreaks(before);
      line += lineBreaks(raw);
      return isFilled(record) ? [{ line: startsAt, cells: record }] : [];
    });
  } catch (error) {
    if (error instanceof CsvError && error.code === 'CSV_QUOTE_NOT_CLOSED') return undefined;
    throw error;
  }
}

/**
 * Why a row cannot be read by its columns: it has a value beyond those of the first line. Most often a value with the delimiter is not
 * quoted, and all values after it are in the wrong columns. Empty cells beyond them are ignored, because spreadsheets write them.
 * @param columns number of cells of the first line
 */
export const surplusFault = (cells: readonly string[], columns: number): string | undefined =>
  cells.slice(columns).some(cell => cell.trim() !== '')
    ? `Has ${cells.length} cells, the first line has ${columns}: quote values that contain the delimiter.`
    : undefined;

/** The parser leaves the line feed of a CRLF that ends a record out of its raw text. */
const lineBreaks = (text: string): number => text.match(/\r\n|\r|\n/g)?.length ?? 0;
