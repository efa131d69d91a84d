import { type ChildProcess, spawn } from 'node:child_process';
import { open, readFile, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { SECOND } from '../clock.ts';
import type { Log } from '../log.ts';
import { type Binaries, program } from './binaries.ts';
import type { ServerLocation } from './location.ts';
import { isServerOf, PROGRAM_ENVIRONMENT, type ServerUser, stopServer } from './process.ts';

export interface ServerSettings {
  readonly port: number;
  readonly maxConnections: number;
  /** False: nothing is flushed to disk; a crash of the machine may lose everything (tests). */
  readonly durable: boolean;
}

/** A server that accepts connections. */
export interface Server {
  readonly stop: () => Promise<void>;
}

/** Thrown if a server exits before it is ready; `output` is the end of its log. */
export class ServerEnded extends Error {
  override readonly name = 'ServerEnded';
  readonly output: string;

  constructor(output: string) {
    super('The server exited before it was ready.');
    this.output = output;
  }
}

export function logFile(location: ServerLocation): string {
  return join(location.home, 'server.log');
}

/**
 * Starts the server and waits until it accepts connections, including crash recovery.
 *
 * It runs in a separate process session, so that Ctrl-C reaches only Parley, which first drains its requests and then
 * stops the server. A watchdog stops the server if Parley is killed.
 *
 * @throws ServerEnded
 */
export async function startServer(
  location: ServerLocation,
  binaries: Binaries,
  settings: ServerSettings,
  log: Log,
): Promise<Server> {
  await rename(logFile(location), `${logFile(location)}.1`).catch(() => undefined);
  const output = await open(logFile(location), 'ax', 0o600);
  const options = serverOptions(settings).flatMap(([key, value]) => ['-c', `${key}=${value}`]);
  let child: ChildProcess;
  let end: Promise<{ error?: Error }>;
  try {
    // A file rather than a pipe: writing to the pipe of a dead parent would kill the server during its shutdown.
    child = spawn(program(binaries, 'postgres'), ['-D', location.data, ...options], {
      cwd: '/',
      env: PROGRAM_ENVIRONMENT,
      detached: true,
      stdio: ['ignore', output.fd, output.fd],
      ...location.user,
    });
    // Registered before any await: a server with damaged data exits within milliseconds, and the event is emitted once.
    end = exitOf(child);
  } finally {
    await output.close();
  }
  child.unref();
  const { pid } = child;
  if (pid === undefined) throw (await end).error;

  let expected = false;
  let running = true;
  const releaseWatchdog = startWatchdog(pid, location.user);
  const ended = end.then(() => {
    running = false;
    releaseWatchdog();
  });
  await waitUntilReady(location, pid, () => running, log);
  void ended.then(async () => {
    if (!expected) log.fatal({ lastLines: await lastLines(location) }, 'the embedded PostgreSQL exited unexpectedly');
  });
  return {
    stop: async () => {
      expected = true;
      // Not if the server is gone: its process id may belong to another program now.
      if (running) await stopServer(pid);
      await ended;
    },
  };
}

/** Resolves when the process has ended, with the error if it could not be started. */
function exitOf(child: ChildProcess): Promise<{ error?: Error }> {
  return new Promise(resolve => {
    child.once('exit', () => resolve({}));
    child.once('error', error => resolve({ error }));
  });
}

/**
 * Stops a server left running by a killed Parley. The caller owns the directory, so no other running
 * Parley uses the server.
 */
export async function stopLeftover(location: ServerLocation, log: Log): Promise<void> {
  const pid = await recordedPid(location);
  if (pid === undefined) return;
  if (await isServerOf(pid, location.data)) {
    log.warn({ pid }, 'stopping the embedded PostgreSQL that an earlier Parley process left running');
    await stopServer(pid);
  }
  // PostgreSQL takes any process with the recorded id for a running server, such as another program after a reboot, or a zombie in a
  // container without an init process. Processes that really use the data are detected by their shared memory.
  await rm(pidFile(location), { force: true });
}

function serverOptions(settings: ServerSettings): [name: string, value: string | number][] {
  return [
    ['port', settings.port],
    ['listen_addresses', '127.0.0.1'],
    // No Unix socket: its path is limited to 107 bytes, and the directory's path may be longer.
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

/** Commits still reach the operating system, so a killed server loses nothing; tests kill servers. */
const UNSAFE_AND_FAST: [name: string, value: string | number][] = [
  ['fsync', 'off'],
  ['full_page_writes', 'off'],
  ['wal_level', 'minimal'],
  ['max_wal_senders', 0],
  // For tests of the event log with two-phase commits.
  ['max_prepared_transactions', 20],
];

/**
 * Starts a shell that waits for the end of its standard input, which comes when this process ends, however it ends. It then stops
 * the server: with SIGINT, after 5 s with SIGQUIT. A line on its input ends the shell without stopping the server.
 */
function startWatchdog(server: number, user: ServerUser | undefined): () => void {
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
  // The server works without a watchdog; the next start stops a leftover server.
  watchdog.on('error', () => undefined);
  watchdog.stdin.on('error', () => undefined);
  watchdog.unref();
  // The pipe of a child process is a socket; its declared type lacks `unref`.
  (watchdog.stdin as { unref?: () => void }).unref?.();
  return () => watchdog.stdin.end('done\n');
}

async function waitUntilReady(
  location: ServerLocation,
  pid: number,
  isRunning: () => boolean,
  log: Log,
): Promise<void> {
  for (let waitedMs = 0; isRunning(); waitedMs += 10) {
    // The eighth line of postmaster.pid is the state of the server; pg_ctl waits for it in the same way.
    const lines = (await readFile(pidFile(location), 'utf8').catch(() => '')).split('\n');
    if (Number(lines[0]) === pid && lines[7]?.trim() === 'ready') return;
    if (waitedMs > 0 && waitedMs % (5 * SECOND) === 0) {
      log.info('waiting for the embedded PostgreSQL, which is recovering from a crash');
    }
    await sleep(10);
  }
  throw new ServerEnded(await lastLines(location));
}

async function lastLines(location: ServerLocation): Promise<string> {
  const text = await readFile(logFile(location), 'utf8').catch(() => '');
  return text.slice(-4_000);
}

async function recordedPid(location: ServerLocation): Promise<number | undefined> {
  const text = await readFile(pidFile(location), 'utf8').catch(() => '');
  const pid = Number(text.split('\n')[0]);
  return Number.isSafeInteger(pid) && pid > 1 ? pid : undefined;
}

function pidFile(location: ServerLocation): string {
  return join(location.data, 'postmaster.pid');
}
