import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, mkdtemp, readdir, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { writeOutput } from '../../src/cli/output-file.ts';
import { eventually } from '../support/gateway.ts';

let directory: string;
let file: string;
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'parley-output-'));
  file = join(directory, 'person.json');
});
afterEach(() => rm(directory, { recursive: true }));

const modeOf = async (path: string): Promise<number> => (await stat(path)).mode & 0o777;

test('a file that everybody could read is replaced by one that only its owner may read', async () => {
  await writeFile(file, 'old');
  await chmod(file, 0o644);
  const link = join(directory, 'link.json');
  await symlink(file, link);
  expect(await writeOutput(link, write => write('new').then(() => 1))).toBe(1);
  expect([await readFile(file, 'utf8'), await modeOf(file)]).toEqual(['new', 0o600]);
  expect((await readdir(directory)).sort()).toEqual(['link.json', 'person.json']);
});

test('an interrupted export leaves the former file, and no half of the new one', async () => {
  await writeFile(file, 'old');
  // Often, because some of them end before the system has created the new file.
  for (let times = 0; times < 200; times += 1) {
    const interrupted = writeOutput(file, async write => {
      await write('half of the ');
      throw new Error('The database is gone.');
    });
    await expect(interrupted).rejects.toThrow('The database is gone.');
  }
  expect([await readFile(file, 'utf8'), await readdir(directory)]).toEqual(['old', ['person.json']]);
});

test.each(['SIGINT', 'SIGTERM', 'SIGHUP'] as const)(
  '%s leaves the former file and no half of the new one, and says so',
  async signal => {
    await writeFile(file, 'old');
    const module = new URL('../../src/cli/output-file.ts', import.meta.url).href;
    const script = `import { writeOutput } from ${JSON.stringify(module)};
    setInterval(() => undefined, 1_000);
    await writeOutput(${JSON.stringify(file)}, write => write('half of the ').then(() => new Promise(() => undefined)));`;
    const child = spawn(process.execPath, ['--input-type=module', '--eval', script], {
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    let output = '';
    child.stderr.setEncoding('utf8').on('data', chunk => (output += chunk));
    await eventually(async () => expect(await readFile(`${file}.part`, 'utf8')).toBe('half of the '));
    child.kill(signal);
    expect((await once(child, 'close'))[1]).toBe(signal);
    expect([await readFile(file, 'utf8'), await readdir(directory)]).toEqual(['old', ['person.json']]);
    expect(output).toBe(`Interrupted: ${file} was not written.\n`);
  },
);

test('a device is written directly, and a full one is an error that names it, also for the last bytes', async () => {
  await writeOutput('/dev/null', write => write('all'));
  const message = /^Cannot write to \/dev\/full: ENOSPC/;
  await expect(writeOutput('/dev/full', write => write('a little'))).rejects.toThrow(message);
  await expect(writeOutput('/dev/full', write => write('x'.repeat(100_000)))).rejects.toThrow(message);
  await expect(writeOutput(join(directory, 'none', 'x.csv'), write => write('x'))).rejects.toThrow(
    /Cannot write.*ENOENT/,
  );
});
