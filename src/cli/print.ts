import { paint, paintState, type Terminal } from './style.ts';

type Row = Readonly<Record<string, string>>;

/** Prints rows as a table, or as JSON. A table that is wider than the terminal is printed row by row, a line for each column. */
export function print(rows: readonly object[], json: boolean, terminal: Terminal = process.stdout): void {
  if (json) {
    terminal.write(`${JSON.stringify(rows, null, 2)}\n`);
    return;
  }
  const [first] = rows;
  if (!first) {
    terminal.write('None.\n');
    return;
  }
  const names = Object.keys(first);
  const cells = rows.map(row => cellsOf(row, names));
  const widths = names.map(name => Math.max(name.length, ...cells.map(row => row[name]?.length ?? 0)));
  const width = widths.reduce((sum, column) => sum + column + 2, -2);
  // A pipe gets one line for each row, whatever its length.
  const fits = terminal.isTTY !== true || terminal.columns === undefined || width <= terminal.columns;
  terminal.write(fits ? table(names, widths, cells, terminal) : records(names, cells, terminal));
}

/** Prints the first rows as a table, and the number of those that only --json prints. Prints nothing without rows. */
export function printFirst(rows: readonly object[], count: number): void {
  if (rows.length === 0) return;
  print(rows.slice(0, count), false);
  if (rows.length > count) printLine(`… and ${rows.length - count} more: see --json.`);
}

const cellsOf = (row: object, names: readonly string[]): Row =>
  Object.fromEntries(names.map(name => [name, printable(String((row as Record<string, unknown>)[name] ?? ''))]));

/** Escapes control characters: names are untrusted input, and a terminal would interpret them. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: it matches control characters on purpose
export const printable = (text: string): string => text.replace(/[\u0000-\u001F\u007F-\u009F]/g, escapeCharacter);

const escapeCharacter = (character: string): string =>
  `\\u${character.charCodeAt(0).toString(16).toUpperCase().padStart(4, '0')}`;

const table = (
  names: readonly string[],
  widths: readonly number[],
  rows: readonly Row[],
  terminal: Terminal,
): string => {
  const lineOf = (cellOf: (name: string, width: number) => string): string =>
    `${names
      // The last cell is not padded.
      .map((name, at) => cellOf(name, at === names.length - 1 ? 0 : (widths[at] ?? 0)))
      .join('  ')
      .trimEnd()}\n`;
  const header = lineOf((name, width) => name.padEnd(width)).trimEnd();
  const body = rows.map(row =>
    lineOf((name, width) => {
      const value = row[name] ?? '';
      return paintState(name, value, value.padEnd(width), terminal);
    }),
  );
  return `${paint('bold', header, terminal)}\n${body.join('')}`;
};

const records = (names: readonly string[], rows: readonly Row[], terminal: Terminal): string => {
  const width = Math.max(...names.map(name => name.length));
  return rows
    .map(row =>
      names
        .map(name => {
          const value = row[name] ?? '';
          return `${paint('bold', name.padEnd(width), terminal)}  ${paintState(name, value, value, terminal)}`.trimEnd();
        })
        .join('\n'),
    )
    .map(text => `${text}\n`)
    .join('\n');
};

export const printLine = (text: string): void => void process.stdout.write(`${text}\n`);
