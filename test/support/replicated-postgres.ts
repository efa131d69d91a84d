import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync } from 'node:fs';
import { appendFile, chown, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import pg from 'pg';
import { startDatabaseProxy } from './database-proxy.ts';
import { eventually } from './gateway.ts';
import { freePort } from './processes.ts';

const run = promisify(execFile);

/** Where Debian installs servers, by version. */
const INSTALLED = '/usr/lib/postgresql';

/** A directory with the programs of a server and `pg_basebackup`; without one the tests of a failover are skipped. */
export const serverPrograms = (existsSync(INSTALLED) ? readdirSync(INSTALLED) : [])
  .map(version => join(INSTALLED, version, 'bin'))
  .find(directory => ['initdb', 'postgres', 'pg_basebackup'].every(name => existsSync(join(directory, name))));

/** A primary and a standby that follows it asynchronously. */
export interface ReplicatedPostgres {
  readonly primaryUrl: string;
  readonly standbyUrl: string;
  /** From now on the standby gets nothing, as if it were far behind. */
  stopReplication(): void;
  /** Ends the primary, as a failure of its machine does. */
  killPrimary(): Promise<void>;
  /** Resolves when the standby accepts writes. */
  promote(): Promise<void>;
  stop(): Promise<void>;
}

export async function startReplicatedPostgres(): Promise<ReplicatedPostgres> {
  const programs = serverPrograms ?? '';
  await using started = new AsyncDisposableStack();
  const directory = await mkdtemp(join(tmpdir(), 'parley-replicated-'));
  started.defer(() => rm(directory, { recursive: true, force: true }));
  const owner = await serverUser();
  if (owner.uid !== undefined) await chown(directory, owner.uid, owner.gid ?? owner.uid);
  const urlOf = (port: number): string => `postgres://postgres@127.0.0.1:${port}/postgres`;

  async function start(name: string, port: number): Promise<ChildProcess> {
    const settings = { port, unix_socket_directories: '', fsync: 'off', max_connections: '200', hot_standby: 'on' };
    const options = Object.entries(settings).flatMap(([key, value]) => ['-c', `${key}=${value}`]);
    const child = spawn(join(programs, 'postgres'), ['-D', join(directory, name), ...options], {
      stdio: 'ignore',
      cwd: directory,
      ...owner,
    });
    started.defer(() => kill(child));
    await eventually(() => query(urlOf(port), 'select 1'));
    return child;
  }

  const [primaryPort, standbyPort] = [await freePort(), await freePort()];
  const asOwner = { cwd: directory, ...owner };
  await run(
    join(programs, 'initdb'),
    ['-D', join(directory, 'primary'), '-U', 'postgres', '-A', 'trust', '-E', 'UTF8', '-N'],
    asOwner,
  );
  const primary = await start('primary', primaryPort);
  const proxy = await startDatabaseProxy(urlOf(primaryPort));
  started.defer(() => proxy.stop());
  await run(
    join(programs, 'pg_basebackup'),
    ['-D', join(directory, 'standby'), '-d', proxy.databaseUrl, '-R', '-c', 'fast', '-N'],
    asOwner,
  );
  // What the primary sends, but a stalled proxy does not forward, is lost with both.
  await appendFile(join(directory, 'standby', 'postgresql.auto.conf'), "wal_retrieve_retry_interval = '100ms'\n");
  await start('standby', standbyPort);
  await eventually(async () => {
    const rows = await query(urlOf(primaryPort), "select from pg_stat_replication where state = 'streaming'");
    if (rows.length === 0) throw new Error('The standby does not follow the primary yet.');
  });
  const running = started.move();
  return {
    primaryUrl: urlOf(primaryPort),
    standbyUrl: urlOf(standbyPort),
    stopReplication: () => proxy.stall(),
    async killPrimary() {
      await kill(primary);
      proxy.cut();
    },
    async promote() {
      await query(urlOf(standbyPort), 'select pg_promote(false)');
      await eventually(async () => {
        const [row] = await query(urlOf(standbyPort), 'select pg_is_in_recovery() as waiting');
        if (row?.['waiting'] !== false) throw new Error('The standby is not promoted yet.');
      });
    },
    stop: () => running.disposeAsync(),
  };
}

/** Runs a statement over a connection of its own. */
export async function query(url: string, text: string): Promise<Record<string, unknown>[]> {
  const client = new pg.Client({ connectionString: url });
  client.on('error', () => undefined);
  await client.connect();
  try {
    return (await client.query(text)).rows;
  } finally {
    await client.end();
  }
}

async function kill(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const gone = once(child, 'exit');
  child.kill('SIGKILL');
  await gone;
}

/** PostgreSQL refuses to run as root. */
async function serverUser(): Promise<{ readonly uid?: number; readonly gid?: number }> {
  if (process.getuid?.() !== 0) return {};
  const [uid, gid] = await Promise.all(
    ['-u', '-g'].map(async flag => Number((await run('id', [flag, 'postgres'])).stdout)),
  );
  return { uid: uid ?? 0, gid: gid ?? 0 };
}
