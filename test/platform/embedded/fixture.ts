import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, mkdir, mkdtemp, readdir, readFile, realpath, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import pg from 'pg';
import { test as base, expect } from 'vitest';
import { chooseLocation } from '../../../src/platform/embedded/location.ts';
import {
  type EmbeddedPostgres,
  type EmbeddedPostgresOptions,
  startEmbeddedPostgres,
} from '../../../src/platform/embedded/postgres.ts';
import { run } from '../../../src/platform/embedded/process.ts';
import { createLog } from '../../../src/platform/log.ts';
import { UserError } from '../../../src/platform/user-error.ts';
import { fastestDirectory } from '../../support/fast-directory.ts';

export const log = createLog('silent');
export const isRoot = process.geteuid?.() === 0;
export const onLinux = process.platform === 'linux';
const OWNER_PROCESS = fileURLToPath(new URL('./owner-process.ts', import.meta.url));

/** For a suite of independent tests, which mostly wait for servers. */
export const CONCURRENT = { concurrent: true };

/** A path too long for a Unix socket, whose address is limited to 107 bytes. */
export const LONG_PATH = join('d'.repeat(80), 'e'.repeat(80));

/**
 * The files of a Parley that has run once, to be copied into workspaces: creating them takes ten times as long. They are created
 * on a disk and in a long path, as may be the case for users.
 */
export interface Cluster {
  readonly home: string;
  /** Duration of the first start. */
  readonly startMs: number;
}

/** The directories of a test. */
export interface Workspace {
  /** Removed after the test; open to every user. */
  readonly path: string;
  /** The server's directory in the workspace; not yet created. */
  readonly directory: string;
  /** Replaces /var/lib/parley, and is shared by the tests of a file: it holds 60 MB if the checkout is not accessible to other users. */
  readonly shared: string;
  /** Run after the test, in reverse order. */
  readonly cleanups: (() => unknown)[];
}

/**
 * A test with its own workspace, which is removed afterwards, so that the tests of a file can run concurrently.
 * A file that extends it must use only the extension: vitest creates file-scoped fixtures separately for each extension.
 */
export const test = base
  // biome-ignore lint/correctness/noEmptyPattern: vitest reads from the pattern which fixtures this one needs.
  .extend('shared', { scope: 'file' }, async ({}, { onCleanup }) => {
    const path = await openDirectory(await fastestDirectory(), 'parley-shared-');
    onCleanup(() => rm(path, { recursive: true, force: true }));
    return path;
  })
  .extend('cluster', { scope: 'file' }, async ({ shared }, { onCleanup }): Promise<Cluster> => {
    const disk = await openDirectory(tmpdir(), 'parley-cluster-');
    onCleanup(() => rm(disk, { recursive: true, force: true }));
    const directory = join(disk, LONG_PATH);
    const from = performance.now();
    const { createdCluster, stop } = await startEmbeddedPostgres({
      directory,
      durable: false,
      log,
      fallbackRoots: [shared],
    });
    const startMs = performance.now() - from;
    await stop();
    expect(createdCluster).toBe(true);
    return { home: await realpath(join(directory, 'postgres')), startMs };
  })
  .extend('workspace', async ({ shared }, { onCleanup }): Promise<Workspace> => {
    const path = await openDirectory(dirname(shared), 'parley-workspace-');
    const workspace: Workspace = { path, directory: join(path, '.parley'), shared, cleanups: [] };
    onCleanup(async () => {
      for (const cleanup of workspace.cleanups.reverse()) await cleanup();
      // The server of a killed process may still be writing.
      await rm(path, { recursive: true, force: true, maxRetries: 10 });
    });
    return workspace;
  })
  /** A workspace in which Parley has run before. */
  .extend('initialized', async ({ workspace, cluster }): Promise<Workspace> => {
    await copyCluster(workspace, cluster);
    return workspace;
  });

async function openDirectory(parent: string, prefix: string): Promise<string> {
  const path = await realpath(await mkdtemp(join(parent, prefix)));
  await chmod(path, 0o755);
  return path;
}

/** Copies the cluster into a directory, to the location that Parley itself would choose. */
export async function copyCluster(
  { directory, shared }: Pick<Workspace, 'directory' | 'shared'>,
  { home: original }: Cluster,
  options: { directory?: string; fallbackRoots?: readonly string[] } = {},
): Promise<void> {
  const target = options.directory ?? directory;
  await mkdir(target, { recursive: true });
  const { home } = await chooseLocation(target, options.fallbackRoots ?? [shared]);
  const parts = ['data', 'password'].map(name => join(original, name));
  // With their owners, which fs.cp does not keep.
  expect(await run('/bin/cp', ['-a', ...parts, home])).toMatchObject({ code: 0 });
}

/** Starts a server that is stopped after the test. */
export async function start(
  workspace: Workspace,
  options: Partial<EmbeddedPostgresOptions> = {},
): Promise<EmbeddedPostgres> {
  const { directory, shared } = workspace;
  const server = await startEmbeddedPostgres({ directory, durable: false, log, fallbackRoots: [shared], ...options });
  workspace.cleanups.push(() => server.stop());
  return server;
}

/** A process that starts a server and waits to be killed; `line` is the URL of the server, or the reason why there is none. */
export async function startParleyProcess(
  workspace: Workspace,
): Promise<{ pid: number; line: string; kill: () => Promise<void> }> {
  const child = spawn(process.execPath, [OWNER_PROCESS, workspace.directory, workspace.shared], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const exited = once(child, 'exit');
  const kill = async () => {
    child.kill('SIGKILL');
    await exited;
  };
  workspace.cleanups.push(kill);
  for await (const line of createInterface(child.stdout)) return { pid: Number(child.pid), line, kill };
  throw new Error('The process ended without output.');
}

/** The message of the UserError with which `work` must reject. */
export async function userErrorMessage(work: Promise<unknown>): Promise<string> {
  const error = await work.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  expect(error).toBeInstanceOf(UserError);
  return (error as UserError).message;
}

/** The rows of a statement, over a new connection. */
export async function query(url: string, text: string): Promise<unknown[][]> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    return (await client.query<unknown[]>({ text, rowMode: 'array' })).rows;
  } finally {
    await client.end();
  }
}

export async function serverPid(workspace: Workspace): Promise<number> {
  const text = await readFile(join(workspace.directory, 'postgres/data/postmaster.pid'), 'utf8');
  return Number(text.split('\n')[0]);
}

/** Kills the watchdog shell of `server`, which would stop the server after Parley is killed. Linux. */
export async function killWatchdog(server: number): Promise<void> {
  const processes = (await readdir('/proc')).filter(name => /^\d+$/.test(name));
  for (const pid of processes) {
    const words = (await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '')).split('\0');
    if (words[0] === '/bin/sh' && words.at(-2) === String(server)) process.kill(Number(pid), 'SIGKILL');
  }
}
