import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { lineOf, startProgram } from '../support/processes.ts';

export interface DevelopmentGateway {
  /** The link that `parley dev` prints. */
  readonly link: URL;
  /** The token of dev.json. */
  readonly token: string;
  stop(): Promise<void>;
}

/** `parley dev` as a newcomer starts it, in an empty directory, with the demo tenant. */
export async function startDevelopment(): Promise<DevelopmentGateway> {
  const directory = await mkdtemp(join(tmpdir(), 'parley-dev-browser-'));
  const children = new Set<ChildProcess>();
  const environment = { PATH: process.env['PATH'], HOME: directory, PORT: '0', PARLEY_EMULATOR_PORT: '0' };
  const child = startProgram(children, [resolve('src/launch.js'), 'dev'], environment, directory);
  const link = new URL(await lineOf(child, line => /Dashboard +(\S+)/.exec(line)?.[1]));
  const facts = JSON.parse(await readFile(join(directory, '.parley/dev.json'), 'utf8')) as { readonly token: string };
  return {
    link,
    token: facts.token,
    async stop() {
      const gone = once(child, 'exit');
      child.kill('SIGTERM');
      await gone;
      await rm(directory, { recursive: true, force: true });
    },
  };
}
