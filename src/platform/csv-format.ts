/** How CSV files are read, apart from the parser. The dashboard, which imports nothing of the gateway, has the same rules: a test compares them. */

const DELIMITERS = [',', ';', '\t'] as const;
/** Longest line of column names that is examined, in characters. */
const MAX_FIRST_LINE = 100_000;
/** The line with which spreadsheets announce their delimiter. */
const ANNOUNCED = /^sep=([^\r\n"])(?:\r\n|\r|\n)/i;

export interface CsvFormat {
  /** The rows, without a byte order mark and a line that announces the delimiter. */
  readonly text: string;
  /** Number of the line on which they begin, from 1. */
  readonly line: number;
  /** Of the parser. */
  readonly options: {
    readonly delimiter: string;
    readonly record_delimiter: string[];
    readonly relax_column_count: true;
    readonly relax_quotes: true;
    readonly skip_empty_lines: true;
  };
}

/**
 * The format of a CSV file (RFC 4180), with any line ending. The delimiter is the one that the first line announces (`sep=;`), otherwise
 * a comma, a semicolon or a tab, whichever the line of column names has most outside quotes.
 */
export function formatOf(given: string): CsvFormat {
  const marked = given.replace(/^\uFEFF/, '');
  const [announcement = '', announced] = ANNOUNCED.exec(marked) ?? [];
  const text = marked.slice(announcement.length);
  return {
    text,
    line: announced === undefined ? 1 : 2,
    options: {
      delimiter: announced ?? delimiterOf(text),
      // A carriage return alone ends lines only where nothing else does.
      record_delimiter: text.includes('\n') ? ['\r\n', '\n'] : ['\r'],
      relax_column_count: true,
      relax_quotes: true,
      skip_empty_lines: true,
    },
  };
}

function delimiterOf(text: string): string {
  const [first = ''] = text
    .slice(0, MAX_FIRST_LINE)
    .replace(/^[\r\n]+/, '')
    .replaceAll(/"[^"]*"/g, '')
    .split(/[\r\n]/, 1);
  const counts = DELIMITERS.map(delimiter => first.split(delimiter).length);
  return DELIMITERS[counts.indexOf(Math.max(...counts))] ?? ',';
}

/** Whether a row has a value. Rows without one are left out, as empty lines are: spreadsheets write them with their delimiters. */
export const isFilled = (cells: readonly string[]): boolean => cells.some(cell => cell !== '');

/** The names of the columns, without the empty ones at the end, which spreadsheets write for columns that were used once. */
export function columnsOf(cells: readonly string[]): readonly string[] {
  const names = cells.map(cell => cell.trim());
  return names.slice(0, names.findLastIndex(name => name !== '') + 1);
}

/** The encoding that the byte order mark of a file names; UTF-8 without one. */
export function encodingOf([first, second]: Uint8Array): 'utf-8' | 'utf-16le' | 'utf-16be' {
  if (first === 0xff && second === 0xfe) return 'utf-16le';
  return first === 0xfe && second === 0xff ? 'utf-16be' : 'utf-8';
}
