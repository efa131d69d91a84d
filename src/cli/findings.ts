import { printable } from './print.ts';
import { paint, type Terminal } from './style.ts';

/** The result of one check of a deployment. `advice` says what to do if the state is not ok. */
export interface Finding {
  readonly check: string;
  readonly state: 'ok' | 'warning' | 'failed';
  readonly finding: string;
  readonly advice: string;
}

export const ok = (check: string, finding: string): Finding => ({ check, state: 'ok', finding, advice: '' });
export const warning = (check: string, finding: string, advice: string): Finding => ({
  check,
  state: 'warning',
  finding,
  advice,
});
export const failed = (check: string, finding: string, advice: string): Finding => ({
  check,
  state: 'failed',
  finding,
  advice,
});

const MARKS = {
  ok: { mark: '✓ ok     ', tone: 'green' },
  warning: { mark: '! warning', tone: 'yellow' },
  failed: { mark: '✗ failed ', tone: 'red' },
} as const;

/** Width for pipes, and maximum for terminals: longer lines are hard to read. */
const COLUMNS = 100;
const MIN_COLUMNS = 50;
/** A longer check has its finding on the next line. */
const MAX_CHECK = 28;

/** Prints findings wrapped to the terminal's width, with the advice on separate lines. */
export function printFindings(findings: readonly Finding[], terminal: Terminal): void {
  const width = Math.max(MIN_COLUMNS, Math.min(terminal.columns ?? COLUMNS, COLUMNS));
  const checkWidth = Math.max(
    0,
    ...findings.map(({ check }) => check.length).filter(length => length <= Math.min(MAX_CHECK, width / 3)),
  );
  const indent = ' '.repeat(MARKS.ok.mark.length + 2 + checkWidth + 2);
  for (const { check, state, finding, advice } of findings) {
    const { mark, tone } = MARKS[state];
    const advised = wrap(advice, width - indent.length - 2).map((line, at) => `${at === 0 ? '→' : ' '} ${line}`);
    const body = [...wrap(finding, width - indent.length), ...advised];
    const head = `${paint(tone, mark, terminal)}  ${check.padEnd(checkWidth)}`;
    const isLong = check.length > checkWidth;
    terminal.write(`${head}${isLong ? `\n${indent}` : '  '}${body.join(`\n${indent}`)}\n`);
  }
}

/** Breaks a text between words. A word that is longer than a line, such as a path or an address, stays whole. */
function wrap(text: string, width: number): string[] {
  const lines: string[] = [];
  for (const word of printable(text.replaceAll('\n', ' ')).split(' ').filter(Boolean)) {
    const last = lines.at(-1);
    if (last === undefined || last.length + 1 + word.length > width) lines.push(word);
    else lines[lines.length - 1] = `${last} ${word}`;
  }
  return lines;
}
