import { spawnSync } from 'node:child_process';
import { resolve } from 'node:path';
import { Writable } from 'node:stream';
import { WriteStream } from 'node:tty';
import { stripVTControlCharacters } from 'node:util';
import { afterEach, expect, test, vi } from 'vitest';
import { print } from '../../src/cli/print.ts';
import { createProgress } from '../../src/cli/progress.ts';

afterEach(() => void vi.unstubAllEnvs());

/** What a command writes to: a terminal, or a pipe. */
class Output extends Writable {
  text = '';
  isTTY: boolean;
  columns: number;

  constructor({ isTTY = true, columns = 100 } = {}) {
    super();
    [this.isTTY, this.columns] = [isTTY, columns];
  }

  /** Node's own reads the environment. */
  getColorDepth = WriteStream.prototype.getColorDepth;

  override _write(chunk: Buffer, _encoding: string, done: () => void): void {
    this.text += chunk.toString();
    done();
  }

  /** What a terminal shows in the end: each line without its earlier states. */
  get screen(): string {
    return stripVTControlCharacters(this.text.replace(/[^\n]*\r/g, ''));
  }
}

const ROWS = [
  { name: 'failed', status: 'active', plan: 'standard' },
  { name: 'Ana', status: 'suspended', plan: 'starter' },
];

/** As in a shell of a person, whatever the environment of the tests. */
function forgetColours(): void {
  for (const name of ['NO_COLOR', 'FORCE_COLOR', 'NODE_DISABLE_COLORS', 'CI']) vi.stubEnv(name, undefined);
  vi.stubEnv('TERM', 'xterm-256color');
}

test('a table on a terminal has a bold header and coloured states, and only states are coloured', () => {
  forgetColours();
  const output = new Output();
  print(ROWS, false, output);
  const [bold, green, red] = [1, 32, 31].map(code => `\u001B[${code}m`);
  expect(output.text.split('\n')).toEqual([
    `${bold}name    status     plan\u001B[22m`,
    `failed  ${green}active   \u001B[39m  standard`,
    `Ana     ${red}suspended\u001B[39m  starter`,
    '',
  ]);
});

test('a pipe and NO_COLOR get the same table without an escape sequence', () => {
  forgetColours();
  const pipe = new Output({ isTTY: false, columns: 10 });
  print(ROWS, false, pipe);
  vi.stubEnv('NO_COLOR', '1');
  const terminal = new Output();
  print(ROWS, false, terminal);
  expect(pipe.text).toBe('name    status     plan\nfailed  active     standard\nAna     suspended  starter\n');
  expect(terminal.text).toBe(pipe.text);
});

test('a table that is wider than the terminal is printed row by row', () => {
  const output = new Output({ columns: 20 });
  print(ROWS, false, output);
  expect(output.screen).toBe(
    'name    failed\nstatus  active\nplan    standard\n\nname    Ana\nstatus  suspended\nplan    starter\n',
  );
});

test('control characters in names do not reach the terminal', () => {
  const output = new Output();
  print([{ name: 'Eve\u001B[2J\u0007\nrow', plan: 'x\u009B1m' }], false, output);
  expect(output.screen).toContain('Eve\\u001B[2J\\u0007\\u000Arow  x\\u009B1m\n');
});

test('progress on a terminal is one line with a bar, and ends with the last state', () => {
  const output = new Output();
  const progress = createProgress('Exporting', { total: 4_000, terminal: output });
  for (let batch = 0; batch < 3; batch += 1) progress.add(1_000);
  progress.end();
  expect(output.screen).toBe(`Exporting  ${'█'.repeat(18)}${'░'.repeat(6)}  75 %  3,000 of 4,000 rows\n`);
});

test('progress fits a narrow terminal, and a total that was too small ends at 100 %', () => {
  for (const columns of [20, 40, 60]) {
    const output = new Output({ columns });
    const progress = createProgress('channels.access_token', { total: 10, terminal: output });
    progress.set(25, 10, 'a detail that needs room');
    progress.end();
    expect(output.screen.trimEnd().length).toBeLessThan(columns);
    expect(output.screen).toMatch(/^channels\.access_to/);
  }
  const wide = new Output();
  const progress = createProgress('Erasing', { total: 10, terminal: wide });
  progress.set(25);
  progress.end();
  expect(wide.screen).toContain('100 %  25 of 10 rows');
});

test('without a terminal progress prints nothing, or a line for each change of a long job', () => {
  const silent = new Output({ isTTY: false });
  const bar = createProgress('Exporting', { total: 4, terminal: silent });
  bar.add(2);
  bar.end();
  expect(silent.text).toBe('');
  const log = new Output({ isTTY: false });
  const lines = createProgress('Renumbering', { unit: 'events', lines: true, terminal: log });
  lines.set(2_000, 4_000);
  lines.set(2_000, 4_000);
  lines.set(4_000, 4_000, 'done');
  lines.end();
  expect(log.text).toBe('Renumbering: 2,000 of 4,000 events\nRenumbering: 4,000 of 4,000 events · done\n');
});

/** Debian's `script` of util-linux runs a command on a terminal of its own. */
const hasScript = spawnSync('script', ['--version'], { encoding: 'utf8' }).stdout?.includes('util-linux') === true;

test.skipIf(!hasScript)('parley prints colours on a terminal, and none with --no-color or NO_COLOR', () => {
  forgetColours();
  const onTerminal = (args: string, env: Record<string, string> = {}) =>
    spawnSync('script', ['-qec', `"${process.execPath}" "${resolve('src/launch.js')}" ${args}`, '/dev/null'], {
      encoding: 'utf8',
      env: { ...process.env, DATABASE_URL: 'mysql://x', ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
    }).stdout;
  expect(onTerminal('plan list')).toContain('\u001B[31mThe configuration is not valid');
  expect(onTerminal('plan --help')).toContain('\u001B[1mUsage:');
  for (const plain of [onTerminal('plan list --no-color'), onTerminal('plan --help', { NO_COLOR: '1' })])
    expect(plain).not.toContain('\u001B');
});
