import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { openSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { freePort } from '../support/processes.ts';

/** A server under test, in a separate process. */
export interface Server {
  readonly url: string;
  readonly pid: number;
  /** Microseconds of CPU that the process has used, all its threads together. */
  cpu(): Promise<number>;
  stop(): Promise<void>;
}

export interface ServerOptions {
  readonly env: Readonly<Record<string, string>>;
  readonly args?: readonly string[];
  readonly execArgv?: readonly string[];
  /** Where the process writes what it has to say, as a service's would. */
  readonly logFile: string;
}

const START_TIMEOUT_MS = 60_000;

/** Starts a module that listens on PORT, and waits until it answers. */
export async function startServer(module: URL, options: ServerOptions): Promise<Server> {
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const log = openSync(options.logFile, 'w');
  const child = fork(fileURLToPath(module), options.args ?? [], {
    execArgv: ['--import', new URL('servers/report.ts', import.meta.url).href, ...(options.execArgv ?? [])],
    env: { ...process.env, NODE_ENV: 'production', PORT: String(port), ...options.env },
    stdio: ['ignore', log, log, 'ipc'],
  });
  await answering(child, url).catch(async error => {
    throw new Error(`${String(error)}\n${(await readFile(options.logFile, 'utf8')).slice(-2_000)}`);
  });
  return {
    url,
    pid: child.pid ?? 0,
    async cpu() {
      child.send('cpu');
      const [{ cpu }] = (await once(child, 'message')) as [{ cpu: number }];
      return cpu;
    },
    async stop() {
      if (child.exitCode !== null || child.signalCode !== null) return;
      child.kill('SIGTERM');
      const killer = setTimeout(() => child.kill('SIGKILL'), 12_000);
      await once(child, 'exit');
      clearTimeout(killer);
    },
  };
}

async function answering(child: ChildProcess, url: string): Promise<void> {
  const deadline = Date.now() + START_TIMEOUT_MS;
  for (;;) {
    if (child.exitCode !== null) throw new Error(`A server ended while it started, with code ${child.exitCode}.`);
    // Any response is accepted: the servers differ in what they serve at `/`.
    if (
      await fetch(url).then(
        answer => answer.text().then(() => true),
        () => false,
      )
    )
      return;
    if (Date.now() > deadline) {
      child.kill('SIGKILL');
      throw new Error('A server did not answer in time.');
    }
    await sleep(50);
  }
}
