import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { readJournal } from '../../src/emulator/journal.ts';

test('an event that does not fit on the disk leaves nothing of its line, so that later ones can be read', () => {
  const directory = mkdtempSync(join(tmpdir(), 'parley-journal-'));
  onTestFinished(() => rmSync(directory, { recursive: true }));
  const file = join(directory, 'journal.jsonl');
  // A limit of the size of files has the effect of a full disk: the last write is partial, the next one fails.
  const script = `
    const { openJournal } = await import(${JSON.stringify(resolve('src/emulator/journal.ts'))});
    const journal = openJournal(${JSON.stringify(file)});
    try {
      for (;;) journal.append({ e: 'done', seqs: [1, 2, 3] });
    } catch (error) {
      console.log(error.code);
    }`;
  const limited = `trap '' XFSZ; ulimit -f 1; exec "$0" --input-type=module --eval "$1"`;
  expect(execFileSync('sh', ['-c', limited, process.execPath, script], { encoding: 'utf8' })).toBe('EFBIG\n');
  expect(readFileSync(file, 'utf8')).toMatch(/\}\n$/);
  expect(readJournal(file).events.length).toBeGreaterThan(5);
});
