import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, mkdtemp, readdir, readFile, realpath, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import pg from 'pg';
import { test as base, expect } from 'vitest';
import { SECOND } from '../../../src/platform/clock.ts';
import {
  type EmbeddedPostgres,
  type EmbeddedPostgresOptions,
  startEmbeddedPostgres,
} from '../../../src/platform/embedded/postgres.ts';
import { createLog } from '../../../src/platform/log.ts';
import { UserError } from '../../../src/platform/user-error.ts';

export const log = createLog('silent');
export const isRoot = process.geteuid?.() === 0;
export const onLinux = process.platform === 'linux';
const OWNER = fileURLToPath(new URL('./owner.ts', import.meta.url));

/** For a suite whose tests need nothing of each other; most of their time is spent in waiting for the disk. */
export const sideBySide = { concurrent: true, timeout: 30 * SECOND };

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

/** A test that may ask for a room of its own, and whose remains are taken away. The tests of a file may so run side by side. */
export const test = base
  // biome-ignore lint/correctness/noEmptyPattern: vitest reads from the pattern which fixtures this one needs.
  .extend('shared', { scope: 'file' }, async ({}, { onCleanup }) => {
    const path = await openDirectory('parley-shared-');
    onCleanup(() => rm(path, { recursive: true, force: true }));
    return path;
  })
  .extend('room', async ({ shared }, { onCleanup }): Promise<Room> => {
    const path = await openDirectory('parley-room-');
    const room: Room = { path, directory: join(path, '.parley'), shared, cleanups: [] };
    onCleanup(async () => {
      for (const cleanup of room.cleanups.reverse()) await cleanup();
      // The server of a killed owner may still be writing its last.
      await rm(path, { recursive: true, force: true, maxRetries: 10 });
    });
    return room;
  });

async function openDirectory(prefix: string): Promise<string> {
  const path = await realpath(await mkdtemp(join(tmpdir(), prefix)));
  await chmod(path, 0o755);
  return path;
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
  const child = spawn(process.execPath, [OWNER, room.directory, room.shared], { stdio: ['ignore', 'pipe', 'inherit'] });
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
