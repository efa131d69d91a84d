import type { Sample } from './contest.ts';
import { printLine } from './output.ts';

/** A promise about two contestants. */
export interface Goal {
  readonly text: string;
  readonly ratio: number;
  readonly met: boolean;
}

export interface Table {
  readonly head: readonly string[];
  readonly rows: readonly (readonly string[])[];
}

export interface Result {
  readonly title: string;
  readonly samples: ReadonlyMap<string, Sample>;
  /** Figures that are not of a contestant. */
  readonly tables?: readonly Table[];
  readonly goals: readonly Goal[];
  readonly notes?: readonly string[];
}

export const atLeast = (text: string, ratio: number, minimum: number): Goal => ({
  text: `${text} ≥ ${minimum}`,
  ratio,
  met: ratio >= minimum,
});
export const atMost = (text: string, ratio: number, maximum: number): Goal => ({
  text: `${text} ≤ ${maximum}`,
  ratio,
  met: ratio <= maximum,
});

const whole = (value: number | undefined): string => (value === undefined ? '-' : String(Math.round(value)));
const tenth = (value: number | undefined): string => (value === undefined ? '-' : value.toFixed(1));

export function printResult({ title, samples, tables = [], goals, notes = [] }: Result): void {
  printLine(`\n${title}`);
  if (samples.size > 0) printSamples(samples);
  for (const { head, rows } of tables) {
    table(head, rows);
    printLine('');
  }
  if (goals.length > 0)
    table(
      ['goal', 'measured', ''],
      goals.map(({ text, ratio, met }) => [text, ratio.toFixed(2), met ? 'met' : 'NOT MET']),
    );
  for (const note of notes) printLine(note);
}

function printSamples(samples: ReadonlyMap<string, Sample>): void {
  const rows = [...samples].map(([name, sample]) => [
    name,
    whole(sample.perSecond),
    whole(sample.serverCpu),
    whole(sample.databaseCpu),
    tenth(sample.p50),
    tenth(sample.p99),
  ]);
  table(['', 'requests/s', 'server µs', 'database µs', 'p50 ms', 'p99 ms'], rows);
  printLine('');
}

/** First column left, the others right. */
export function table(head: readonly string[], rows: readonly (readonly string[])[]): void {
  const widths = head.map((name, column) => Math.max(name.length, ...rows.map(row => row[column]?.length ?? 0)));
  for (const row of [head, ...rows]) {
    printLine(
      `  ${row.map((cell, column) => (column === 0 ? cell.padEnd(widths[0] ?? 0) : cell.padStart(widths[column] ?? 0))).join('  ')}`.trimEnd(),
    );
  }
}
