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
import { quickestDirectory } from '../../support/fast-directory.ts';

export const log = createLog('silent');
export const isRoot = process.geteuid?.() === 0;
export const onLinux = process.platform === 'linux';
const OWNER_PROCESS = fileURLToPath(new URL('./owner-process.ts', import.meta.url));

/** For a suite whose tests need nothing of each other; most of their time is spent in waiting for servers. */
export const sideBySide = { concurrent: true };

/** A path too long for a Unix socket, whose address has room for 107 bytes. */
export const DEEP = join('d'.repeat(80), 'e'.repeat(80));

/**
 * What a Parley leaves that has run once, to be copied: making it takes ten times as long. Made on a disk and in the deep,
 * as anybody's may be.
 */
export interface Cluster {
  readonly home: string;
  /** How long the start took that made it. */
  readonly startMs: number;
}

/** Where a test works. */
export interface Room {
  /** Removed after the test; open to every user. */
  readonly path: string;
  /** In the room, not yet made: for the server. */
  readonly directory: string;
  /** In place of /var/lib/parley, and shared by the tests of a file: in a checkout closed to others, 60 MB lie here. */
  readonly shared: string;
  /** What to do after the test, last first. */
  readonly cleanups: (() => unknown)[];
}

/**
 * A test that may ask for a room of its own, and whose remains are taken away. The tests of a file may so run side by side.
 * A file that extends it uses the extension alone: vitest keeps what is made once per file for each extension apart.
 */
export const test = base
  // biome-ignore lint/correctness/noEmptyPattern: vitest reads from the pattern which fixtures this one needs.
  .extend('shared', { scope: 'file' }, async ({}, { onCleanup }) => {
    const path = await openDirectory(await quickestDirectory(), 'parley-shared-');
    onCleanup(() => rm(path, { recursive: true, force: true }));
    return path;
  })
  .extend('cluster', { scope: 'file' }, async ({ shared }, { onCleanup }): Promise<Cluster> => {
    const disk = await openDirectory(tmpdir(), 'parley-cluster-');
    onCleanup(() => rm(disk, { recursive: true, force: true }));
    const directory = join(disk, DEEP);
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
  .extend('room', async ({ shared }, { onCleanup }): Promise<Room> => {
    const path = await openDirectory(dirname(shared), 'parley-room-');
    const room: Room = { path, directory: join(path, '.parley'), shared, cleanups: [] };
    onCleanup(async () => {
      for (const cleanup of room.cleanups.reverse()) await cleanup();
      // The server of a killed owner may still be writing its last.
      await rm(path, { recursive: true, force: true, maxRetries: 10 });
    });
    return room;
  })
  /** A room in which Parley has run before. */
  .extend('furnished', async ({ room, cluster }): Promise<Room> => {
    await furnish(room, cluster);
    return room;
  });

async function openDirectory(parent: string, prefix: string): Promise<string> {
  const path = await realpath(await mkdtemp(join(parent, prefix)));
  await chmod(path, 0o755);
  return path;
}

/** Leaves in a directory what a Parley leaves there that has run once: a cluster, in the place that Parley itself would choose. */
export async function furnish(
  { directory, shared }: Pick<Room, 'directory' | 'shared'>,
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
export async function start(room: Room, options: Partial<EmbeddedPostgresOptions> = {}): Promise<EmbeddedPostgres> {
  const { directory, shared } = room;
  const server = await startEmbeddedPostgres({ directory, durable: false, log, fallbackRoots: [shared], ...options });
  room.cleanups.push(() => server.stop());
  return server;
}

/** A process that starts a server and waits to be killed; `line` is the URL of the server, or the reason why there is none. */
export async function startOwner(room: Room): Promise<{ pid: number; line: string; kill: () => Promise<void> }> {
  const child = spawn(process.execPath, [OWNER_PROCESS, room.directory, room.shared], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const exited = once(child, 'exit');
  const kill = async () => {
    child.kill('SIGKILL');
    await exited;
  };
  room.cleanups.push(kill);
  for await (const line of createInterface(child.stdout)) return { pid: Number(child.pid), line, kill };
  throw new Error('The owner ended without a word.');
}

/** The sentence of the UserError that `work` must end with. */
export async function refusal(work: Promise<unknown>): Promise<string> {
  const error = await work.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  expect(error).toBeInstanceOf(UserError);
  return (error as UserError).message;
}

/** The rows of a statement, over a connection of its own. */
export async function query(url: string, text: string): Promise<unknown[][]> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    return (await client.query<unknown[]>({ text, rowMode: 'array' })).rows;
  } finally {
    await client.end();
  }
}

export async function serverPid(room: Room): Promise<number> {
  const text = await readFile(join(room.directory, 'postgres/data/postmaster.pid'), 'utf8');
  return Number(text.split('\n')[0]);
}

/** Kills the shell that watches over `server`, so that nobody stops the server in the stead of a killed Parley. Linux. */
export async function killWatchdog(server: number): Promise<void> {
  const processes = (await readdir('/proc')).filter(name => /^\d+$/.test(name));
  for (const pid of processes) {
    const words = (await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '')).split('\0');
    if (words[0] === '/bin/sh' && words.at(-2) === String(server)) process.kill(Number(pid), 'SIGKILL');
  }
}
