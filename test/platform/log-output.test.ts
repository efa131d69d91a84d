import { execFileSync } from 'node:child_process';
import { closeSync, constants, mkdtempSync, openSync, readSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { createLogOutput } from '../../src/platform/log-output.ts';
import { eventually } from '../support/gateway.ts';

let directory: string;
let reader: number;
let writer: number;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'parley-log-'));
  const fifo = join(directory, 'log');
  execFileSync('mkfifo', [fifo]);
  reader = openSync(fifo, constants.O_RDONLY | constants.O_NONBLOCK);
  writer = openSync(fifo, constants.O_WRONLY | constants.O_NONBLOCK);
});
afterEach(() => {
  closeSync(reader);
  closeSync(writer);
  rmSync(directory, { recursive: true });
});

/** What the pipe holds now. */
function read(): string {
  const bytes = Buffer.alloc(1024 * 1024);
  try {
    return bytes.toString('latin1', 0, readSync(reader, bytes));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EAGAIN') return '';
    throw error;
  }
}

const lineOf = (index: number): string => `${String(index).padStart(99)}\n`;

test('lines that a full pipe does not take are written in order when it is read', async () => {
  const output = createLogOutput(writer);
  const lines = Array.from({ length: 3_000 }, (_, index) => lineOf(index));
  for (const line of lines) output.write(line);
  let written = '';
  await eventually(() => {
    written += read();
    expect(written.length).toBe(300_000);
  });
  expect(written).toBe(lines.join(''));
});

test('lines beyond what may wait are dropped, and the log says how many', async () => {
  const output = createLogOutput(writer, 200_000);
  for (let index = 0; index < 6_000; index += 1) output.write(lineOf(index));
  let written = '';
  await eventually(() => {
    written += read();
    expect(written).toContain('"dropped"');
  });
  const lines = written.trimEnd().split('\n');
  const { dropped } = JSON.parse(lines.pop() ?? '') as { dropped: number };
  expect(dropped).toBeGreaterThan(0);
  expect(lines).toEqual(Array.from({ length: 6_000 - dropped }, (_, index) => lineOf(index).trimEnd()));
});
