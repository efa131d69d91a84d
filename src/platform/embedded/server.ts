import { type ChildProcess, spawn } from 'node:child_process';
import { open, readFile, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { SECOND } from '../clock.ts';
import type { Log } from '../log.ts';
import { type Binaries, program } from './binaries.ts';
import type { Place } from './location.ts';
import { isServerOf, PROGRAM_ENVIRONMENT, type ServerUser, stopServer } from './process.ts';

export interface ServerSettings {
  readonly port: number;
  readonly maxConnections: number;
  /** False: nothing is flushed to the disk, a crash of the machine may lose everything (tests). */
  readonly durable: boolean;
}

/** A server that accepts connections. */
export interface Server {
  readonly stop: () => Promise<void>;
}

/** A server that ended before it was ready, with what it wrote. */
export class ServerEnded extends Error {
  override readonly name = 'ServerEnded';
  readonly output: string;

  constructor(output: string) {
    super('The server ended before it was ready.');
    this.output = output;
  }
}

export function logFile(place: Place): string {
  return join(place.home, 'server.log');
}

/**
 * Starts the server and waits until it accepts connections, through crash recovery if need be.
 *
 * It runs in a session of its own, so that Ctrl-C at the terminal reaches Parley alone, which then drains its requests
 * before it stops the server. A watchdog stops the server should Parley be killed.
 *
 * @throws ServerEnded
 */
export async function startServer(
  place: Place,
  binaries: Binaries,
  settings: ServerSettings,
  log: Log,
): Promise<Server> {
  await rename(logFile(place), `${logFile(place)}.1`).catch(() => undefined);
  const output = await open(logFile(place), 'ax', 0o600);
  const options = serverOptions(settings).flatMap(([key, value]) => ['-c', `${key}=${value}`]);
  let child: ChildProcess;
  let end: Promise<{ error?: Error }>;
  try {
    // A file and not a pipe: a server that writes into the pipe of a dead parent dies of it in the middle of its stop.
    child = spawn(program(binaries, 'postgres'), ['-D', place.data, ...options], {
      cwd: '/',
      env: PROGRAM_ENVIRONMENT,
      detached: true,
      stdio: ['ignore', output.fd, output.fd],
      ...place.user,
    });
    // Before anything is awaited: a server that finds its data damaged ends within a few milliseconds, and says so once.
    end = ending(child);
  } finally {
    await output.close();
  }
  child.unref();
  const { pid } = child;
  if (pid === undefined) throw (await end).error;

  let expected = false;
  let running = true;
  const releaseWatchdog = watch(pid, place.user);
  const ended = end.then(() => {
    running = false;
    releaseWatchdog();
  });
  await ready(place, pid, () => running, log);
  void ended.then(async () => {
    if (!expected) log.fatal({ lastLines: await lastLines(place) }, 'The embedded PostgreSQL ended by itself');
  });
  return {
    stop: async () => {
      expected = true;
      // Never by the id of a server that is gone: it may belong to another program by now.
      if (running) await stopServer(pid);
      await ended;
    },
  };
}

/** Resolves when the process has ended, with the error if it could not even be started. */
function ending(child: ChildProcess): Promise<{ error?: Error }> {
  return new Promise(resolve => {
    child.once('exit', () => resolve({}));
    child.once('error', error => resolve({ error }));
  });
}

/**
 * Stops the server that a killed Parley left behind, if there is one. The caller owns the directory, so no other living
 * Parley uses that server.
 */
export async function stopLeftover(place: Place, log: Log): Promise<void> {
  const pid = await recordedPid(place);
  if (pid === undefined) return;
  if (await isServerOf(pid, place.data)) {
    log.warn({ pid }, 'Stopping the embedded PostgreSQL that an earlier Parley left running');
    await stopServer(pid);
  }
  // PostgreSQL would take any process with this id for a running server: another program after a reboot, or a zombie
  // in a container whose first process reaps none. Processes that still use the data it knows by their shared memory.
  await rm(pidFile(place), { force: true });
}

function serverOptions(settings: ServerSettings): [name: string, value: string | number][] {
  return [
    ['port', settings.port],
    ['listen_addresses', '127.0.0.1'],
    // No Unix socket: its path may have 107 bytes at most, and a checkout may lie deeper.
    ['unix_socket_directories', ''],
    ['max_connections', settings.maxConnections],
    ['timezone', 'UTC'],
    ['log_timezone', 'UTC'],
    ['jit', 'off'],
    ['log_checkpoints', 'off'],
    // Errors of statements are logged by Parley without data; the server's log would include the data.
    ['log_min_messages', 'log'],
    ['log_min_error_statement', 'panic'],
    ['log_error_verbosity', 'terse'],
    ...(settings.durable ? [] : UNSAFE_AND_FAST),
  ];
}

/** A commit still reaches the operating system, so a killed server loses nothing: tests kill servers. */
const UNSAFE_AND_FAST: [name: string, value: string | number][] = [
  ['fsync', 'off'],
  ['full_page_writes', 'off'],
  ['wal_level', 'minimal'],
  ['max_wal_senders', 0],
  // The log has to follow two-phase commits of others.
  ['max_prepared_transactions', 20],
];

/**
 * A shell that waits for the end of its standard input, which comes with the end of this process, however it ends, and
 * then stops the server: at once, and after 5 s the hard way. A line on the input releases it instead.
 */
function watch(server: number, user: ServerUser | undefined): () => void {
  const script = `trap '' HUP INT TERM
read line && exit
kill -INT "$0"
for second in 1 2 3 4 5; do sleep 1; kill -0 "$0" || exit; done
kill -QUIT "$0"`;
  const watchdog = spawn('/bin/sh', ['-c', script, String(server)], {
    cwd: '/',
    env: PROGRAM_ENVIRONMENT,
    detached: true,
    stdio: ['pipe', 'ignore', 'ignore'],
    ...user,
  });
  // Without it the server still runs; the next start stops what a killed Parley leaves behind.
  watchdog.on('error', () => undefined);
  watchdog.stdin.on('error', () => undefined);
  watchdog.unref();
  // A pipe of a child process is a socket, whose declared type does not say so.
  (watchdog.stdin as { unref?: () => void }).unref?.();
  return () => watchdog.stdin.end('done\n');
}

async function ready(place: Place, pid: number, isRunning: () => boolean, log: Log): Promise<void> {
  for (let waitedMs = 0; isRunning(); waitedMs += 10) {
    // The eighth line of postmaster.pid is the state of the server; pg_ctl waits for it in the same way.
    const lines = (await readFile(pidFile(place), 'utf8').catch(() => '')).split('\n');
    if (Number(lines[0]) === pid && lines[7]?.trim() === 'ready') return;
    if (waitedMs > 0 && waitedMs % (5 * SECOND) === 0) {
      log.info('Waiting for the embedded PostgreSQL: it recovers from a crash, which takes as long as it takes');
    }
    await sleep(10);
  }
  throw new ServerEnded(await lastLines(place));
}

async function lastLines(place: Place): Promise<string> {
  const text = await readFile(logFile(place), 'utf8').catch(() => '');
  return text.slice(-4_000);
}

async function recordedPid(place: Place): Promise<number | undefined> {
  const text = await readFile(pidFile(place), 'utf8').catch(() => '');
  const pid = Number(text.split('\n')[0]);
  return Number.isSafeInteger(pid) && pid > 1 ? pid : undefined;
}

function pidFile(place: Place): string {
  return join(place.data, 'postmaster.pid');
}
