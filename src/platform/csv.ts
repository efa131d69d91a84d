import { pipeline, Readable } from 'node:stream';
import { parse as parser } from 'csv-parse';
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
  const { text, line, options } = formatOf(given);
  try {
    const rows = parse(text, { ...options, raw: true }) as unknown as readonly ParsedRecord[];
    return rows.map(numberedFrom(line)).filter(({ cells }) => isFilled(cells));
  } catch (error) {
    if (isUnclosed(error)) return undefined;
    throw error;
  }
}

/** As the parser returns it with the option `raw`. */
interface ParsedRecord {
  readonly record: readonly string[];
  readonly raw: string;
}

/** Numbers the lines of records, which must come in their order. @param first line of the first one */
function numberedFrom(first: number): (parsed: ParsedRecord) => CsvRow {
  let line = first;
  return ({ record, raw }) => {
    // Empty lines before a record belong to its raw text.
    const [before = ''] = /^[\r\n]*/.exec(raw) ?? [];
    const startsAt = line + lineBreaks(before);
    line += lineBreaks(raw);
    return { line: startsAt, cells: record };
  };
}

/** Characters that decide the format, apart from line endings: the line of column names, and one before it that announces the delimiter. */
const MAX_HEAD = 200_000;

/** A CSV text in parts that is read several times, each time from its beginning. */
export type CsvSource = () => AsyncIterable<string>;

/**
 * Parses CSV as `parseCsv` does, and holds a few rows at a time. The text is read first for its format: as a rule only its beginning.
 * @throws UNCLOSED_QUOTE after the rows before it
 */
export async function* streamCsv(source: CsvSource): AsyncGenerator<CsvRow> {
  let head = '';
  let hasLineFeed = false;
  for await (const part of source()) {
    if (head.length < MAX_HEAD) head += part;
    hasLineFeed ||= part.includes('\n');
    if (head.length >= MAX_HEAD && hasLineFeed) break;
  }
  // The format depends on whether the text has a line feed: one is added if the first comes after the head.
  const marked = hasLineFeed && !head.includes('\n') ? `${head}\n` : head;
  const { text, line, options } = formatOf(marked);
  const numbered = numberedFrom(line);
  const rows = parser({ ...options, raw: true });
  pipeline(Readable.from(from(source(), marked.length - text.length)), rows, () => undefined);
  try {
    for await (const parsed of rows as AsyncIterable<ParsedRecord>) {
      const row = numbered(parsed);
      if (isFilled(row.cells)) yield row;
    }
  } catch (error) {
    throw isUnclosed(error) ? UNCLOSED_QUOTE : error;
  }
}

export const UNCLOSED_QUOTE = new Error('A quoted field does not end.');

/** A text in parts without its first characters. */
async function* from(parts: AsyncIterable<string>, start: number): AsyncGenerator<string> {
  let left = start;
  for await (const part of parts) {
    const rest = part.slice(left);
    left = Math.max(0, left - part.length);
    if (rest !== '') yield rest;
  }
}

const isUnclosed = (error: unknown): boolean => error instanceof CsvError && error.code === 'CSV_QUOTE_NOT_CLOSED';

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
