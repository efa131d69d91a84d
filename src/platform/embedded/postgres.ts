import { mkdir, readFile, realpath, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Log } from '../log.ts';
import { type Binaries, findBinaries, runnableBinaries } from './binaries.ts';
import { ensureCluster, ensureDatabase } from './cluster.ts';
import { addressInUse, outputFault, portInUse, systemFault } from './errors.ts';
import { allHomes, chooseLocation, FALLBACK_ROOTS, locationAt, removeHome, type ServerLocation } from './location.ts';
import { lockDirectory } from './lock.ts';
import { logFile, type Server, ServerEnded, type ServerSettings, startServer, stopLeftover } from './server.ts';

export interface EmbeddedPostgresOptions {
  /** Parley's directory, for example `<cwd>/.parley`. Created if it does not exist. */
  readonly directory: string;
  /** TCP port on 127.0.0.1. Default: that of the last start if it is free, otherwise any free port. */
  readonly port?: number;
  /** False trades durability for speed, for tests. */
  readonly durable: boolean;
  readonly log: Log;
  /** Default 100. */
  readonly maxConnections?: number;
  /** Directories for root to place files in that the server's user must reach, if `directory` is closed to it. */
  readonly fallbackRoots?: readonly string[];
}

export interface EmbeddedPostgres {
  /** `postgres://…@127.0.0.1:<port>/parley`, with the password: do not log it. */
  readonly url: string;
  /** Whether this start created the cluster. */
  readonly createdCluster: boolean;
  /** Stops the server and releases the directory. A second call waits for the first. */
  stop(): Promise<void>;
}

/**
 * Starts a real PostgreSQL for this process: creates a cluster in `directory` at the first start, recovers after a crash, and listens
 * on 127.0.0.1 only. The server stops with this process, even if that is killed.
 *
 * @throws UserError with the remedy: another process in the same directory, a port in use, a full disk, a missing package or
 *   permission, data of another major version
 */
export async function startEmbeddedPostgres(options: EmbeddedPostgresOptions): Promise<EmbeddedPostgres> {
  const roots = options.fallbackRoots ?? FALLBACK_ROOTS;
  return withOwnedDirectory(options.directory, async (directory, release) => {
    const found = await findBinaries(import.meta.url);
    const location = await chooseLocation(directory, roots);
    await stopLeftover(location, options.log);
    if (options.port !== undefined && !(await isFree(options.port))) throw portInUse(options.port);
    const binaries = await runnableBinaries(found, location.user, roots);
    const createdCluster = await ensureCluster(directory, location, binaries, options.durable);
    const { server, port } = await startOnPort(directory, location, binaries, options);
    let stopped: Promise<void> | undefined;
    const stop = () => {
      stopped ??= server.stop().finally(release);
      return stopped;
    };
    try {
      const url = await ensureDatabase(location, port);
      options.log.info({ port, directory: location.home, createdCluster }, 'embedded PostgreSQL started');
      return { url, createdCluster, stop };
    } catch (error) {
      await server.stop();
      throw error;
    }
  });
}

/**
 * Deletes the embedded database of `directory` with all its data. Does nothing if there is none.
 *
 * @throws UserError if it is in use
 */
export async function removeEmbeddedPostgres(
  directory: string,
  options: { log: Log; fallbackRoots?: readonly string[] },
): Promise<void> {
  await withOwnedDirectory(directory, async (owned, release) => {
    for (const home of await allHomes(owned, options.fallbackRoots ?? FALLBACK_ROOTS)) {
      await stopLeftover(locationAt(home, undefined), options.log);
      await removeHome(owned, home);
    }
    await release();
  });
}

/** Runs `work` as the owner of `directory`; if it fails, releases the directory and turns the error into a UserError. */
async function withOwnedDirectory<T>(
  path: string,
  work: (directory: string, release: () => Promise<void>) => Promise<T>,
): Promise<T> {
  try {
    await mkdir(path, { recursive: true });
    const directory = await realpath(path);
    const release = await lockDirectory(directory);
    try {
      return await work(directory, release);
    } catch (error) {
      await release().catch(() => undefined);
      throw error;
    }
  } catch (error) {
    throw systemFault(error, path);
  }
}

/** Starts the server; retries after transient failures. */
async function startOnPort(
  directory: string,
  location: ServerLocation,
  binaries: Binaries,
  options: EmbeddedPostgresOptions,
): Promise<{ server: Server; port: number }> {
  for (let attempt = 1; ; attempt++) {
    const port = options.port ?? (await choosePort(location));
    const settings: ServerSettings = { port, maxConnections: options.maxConnections ?? 100, durable: options.durable };
    try {
      return { server: await startServer(location, binaries, settings, options.log), port };
    } catch (error) {
      if (!(error instanceof ServerEnded)) throw error;
      // Processes of a killed server need a moment to notice it and release shared memory.
      const orphans = error.output.includes('pre-existing shared memory block');
      const lostPort = options.port === undefined && addressInUse(error.output);
      if (attempt >= 20 || !(orphans || lostPort)) {
        throw outputFault(error.output, { directory, port, logFile: logFile(location) });
      }
      await sleep(250);
    }
  }
}

async function choosePort(location: ServerLocation): Promise<number> {
  const file = join(location.home, 'port');
  const last = Number(await readFile(file, 'utf8').catch(() => ''));
  if (last > 0 && (await isFree(last))) return last;
  const port = await freePort(0);
  // Replaced, not overwritten: the old file may belong to root, who once ran Parley in this directory.
  await rm(file, { force: true });
  await writeFile(file, String(port));
  return port;
}

async function isFree(port: number): Promise<boolean> {
  return freePort(port).then(
    () => true,
    () => false,
  );
}

/** Checks that a port of 127.0.0.1 is free (0: finds a free one). @returns the port */
function freePort(port: number): Promise<number> {
  return new Promise((resolve, reject) => {
    const listener = createServer();
    listener.once('error', reject);
    listener.listen({ port, host: '127.0.0.1' }, () => {
      const address = listener.address();
      const number = typeof address === 'object' && address !== null ? address.port : port;
      listener.close(() => resolve(number));
    });
  });
}
