import { spawnSync } from 'node:child_process';
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

/** The scripts of `parley completion`, in the shells that are there. */
let directory: string;
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'parley-completion-'));
  const program = join(directory, 'parley');
  await writeFile(program, `#!/bin/sh\nexec '${process.execPath}' '${resolve('src/launch.js')}' "$@"\n`);
  await chmod(program, 0o755);
});
afterAll(() => rm(directory, { recursive: true, force: true }));

/** Sources the script as docs/operations.md says, and prints what the shell offers for a line of words, one in a line. */
const SHELLS = {
  bash: {
    args: ['--norc', '--noprofile', '-c'],
    // The function that completes is called as readline calls it.
    script: (words: readonly string[]) => `
      source <(parley completion bash)
      compopt() { :; }
      COMP_WORDS=(${words.map(word => `'${word}'`).join(' ')})
      COMP_CWORD=${words.length - 1}
      $(complete -p parley | sed -E 's/.* -F ([^ ]+) .*/\\1/')
      printf '%s\\n' "\${COMPREPLY[@]}"`,
  },
  fish: {
    args: ['--no-config', '-c'],
    script: (words: readonly string[]) => `
      parley completion fish | source
      complete -C "${words.join(' ')}" | string split -f1 \\t`,
  },
} as const;

function complete(shell: 'bash' | 'fish', words: readonly string[]): string[] {
  const { args, script } = SHELLS[shell];
  const { stdout, stderr } = spawnSync(shell, [...args, script(words)], {
    encoding: 'utf8',
    env: { ...process.env, PATH: `${directory}:${process.env['PATH']}`, HOME: directory },
  });
  expect(stderr).toBe('');
  return stdout.split('\n').filter(Boolean);
}

describe.each(['bash', 'fish'] as const)('%s', shell => {
  const isThere = spawnSync(shell, ['--version']).status === 0;
  test.skipIf(!isThere)('completes commands, subcommands, options and their values', () => {
    expect(complete(shell, ['parley', 'ten'])).toEqual(['tenant']);
    expect(complete(shell, ['parley', 'tenant', ''])).toEqual(expect.arrayContaining(['create', 'delete', 'staff']));
    expect(complete(shell, ['parley', 'plan', 'edit', '--co'])).toEqual(['--contacts', '--conversations']);
    expect(complete(shell, ['parley', 'campaign', 'export', 'acme', '1', '--format', ''])).toEqual(['csv', 'json']);
  });
});
