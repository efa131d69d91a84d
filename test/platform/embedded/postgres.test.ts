import { once } from 'node:events';
import { chmod, cp, mkdir, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { type AddressInfo, createServer } from 'node:net';
import { join } from 'node:path';
import { describe, expect } from 'vitest';
import { removeEmbeddedPostgres, startEmbeddedPostgres } from '../../../src/platform/embedded/postgres.ts';
import { isServerOf, processStart, run } from '../../../src/platform/embedded/process.ts';
import { elapsedPerCpuTime } from '../../support/durations.ts';
import {
  test as base,
  CONCURRENT,
  copyCluster,
  isRoot,
  killWatchdog,
  LONG_PATH,
  log,
  onLinux,
  query,
  serverPid,
  start,
  startParleyProcess,
  userErrorMessage,
} from './fixture.ts';

const RUNNING = /^Parley is already running in .*\.parley \(process \d+\)\. Stop it first, or use another directory\.$/;

/** The tests of this file; `server` is shared by tests that only read. */
const test = base.extend('server', { scope: 'file' }, async ({ shared, cluster }, { onCleanup }) => {
  const directory = join(shared, LONG_PATH);
  await copyCluster({ directory, shared }, cluster);
  const options = { directory, durable: true, maxConnections: 17, fallbackRoots: [shared] };
  const { url, stop } = await startEmbeddedPostgres({ ...options, log });
  onCleanup(stop);
  return { url, directory };
});

describe('an embedded PostgreSQL', () => {
  test('keeps its rows and its port across a restart', async ({ initialized }) => {
    const first = await start(initialized);
    await query(first.url, 'create table kept as select 42 as answer');
    await Promise.all([first.stop(), first.stop()]);

    const second = await start(initialized);
    expect(second).toMatchObject({ createdCluster: false, url: first.url });
    expect(await query(second.url, 'select answer from kept')).toEqual([[42]]);
  });

  test('starts within 3 s the first time and within 1 s later, if the machine is idle', async ({
    initialized: workspace,
    cluster,
  }) => {
    const timed = async (directory: string, createdCluster: boolean): Promise<number> => {
      const from = performance.now();
      const server = await start(workspace, { directory });
      const ms = performance.now() - from;
      expect(server.createdCluster).toBe(createdCluster);
      await server.stop();
      return ms;
    };
    const first = (attempt: number) =>
      attempt === 0 ? cluster.startMs : timed(join(workspace.path, `first ${attempt}`), true);
    expect(await bestBelow(3_000, first)).toBeLessThan(3_000);
    expect(await bestBelow(1_000, () => timed(workspace.directory, false))).toBeLessThan(1_000);
  });
});

/** Other load only makes a start slower, so the best of at most four counts, scaled by this process's share of the CPU. */
async function bestBelow(boundMs: number, measure: (attempt: number) => Promise<number> | number): Promise<number> {
  let best = Number.POSITIVE_INFINITY;
  for (let attempt = 0; attempt < 4 && best >= boundMs; attempt += 1) {
    const ms = await measure(attempt);
    best = Math.min(best, ms < boundMs ? ms : ms / elapsedPerCpuTime());
  }
  return best;
}

describe('the embedded server', CONCURRENT, () => {
  test('runs in a path that is too long for a Unix socket', async ({ server }) => {
    expect(server.directory.length).toBeGreaterThan(107);
    expect(await query(server.url, 'select 1')).toEqual([[1]]);
  });

  test('has the extensions for search, which support letters of every script', async ({ server }) => {
    await query(server.url, 'create extension pg_trgm');
    await query(server.url, 'create extension btree_gin');
    expect(
      await query(server.url, `select cardinality(show_trgm('тест')), cardinality(show_trgm('नमस्ते')) > 0`),
    ).toEqual([[5, true]]);
  });

  test('sorts, folds case and reports time identically on every machine', async ({ server }) => {
    expect(
      await query(
        server.url,
        `select datlocprovider, datlocale, pg_encoding_to_char(encoding), current_setting('timezone'), lower('ÄЖ')
           from pg_database where datname = current_database()`,
      ),
    ).toEqual([['b', 'C.UTF-8', 'UTF8', 'UTC', 'äж']]);
  });

  test('listens only on 127.0.0.1, with a password that only its owner can read', async ({ server }) => {
    expect(
      await query(server.url, `select current_setting('listen_addresses'), current_setting('unix_socket_directories')`),
    ).toEqual([['127.0.0.1', '']]);
    expect(new URL(server.url).password).toHaveLength(48);
    await expect(query(server.url.replace(/:[0-9a-f]{48}@/, ':wrong@'), 'select 1')).rejects.toThrow(
      'password authentication',
    );
    for (const [file, mode] of [
      ['password', 0o600],
      ['data', 0o700],
      ['server.log', 0o600],
    ] as const) {
      expect((await stat(join(server.directory, 'postgres', file))).mode & 0o777).toBe(mode);
    }
  });

  test('flushes to disk by default', async ({ server }) => {
    expect(
      await query(
        server.url,
        `select current_setting('fsync'), current_setting('synchronous_commit'), current_setting('max_connections')`,
      ),
    ).toEqual([['on', 'on', '17']]);
  });
});

describe('when Parley is killed', CONCURRENT, () => {
  test('the server stops with it, and the next start has every committed row', async ({ initialized: workspace }) => {
    const owner = await startParleyProcess(workspace);
    await query(owner.line, 'create table kept as select 42 as answer');
    const pid = await serverPid(workspace);
    await owner.kill();
    await expect.poll(() => processStart(pid)).toBeUndefined();
    expect(await query((await start(workspace)).url, 'select answer from kept')).toEqual([[42]]);
  });

  test.runIf(onLinux)('the next start stops a server that was left running', async ({ initialized: workspace }) => {
    const owner = await startParleyProcess(workspace);
    await query(owner.line, 'create table kept as select 42 as answer');
    const pid = await serverPid(workspace);
    await killWatchdog(pid);
    await owner.kill();
    expect(await isServerOf(pid, join(workspace.directory, 'postgres/data'))).toBe(true);
    expect(await query((await start(workspace)).url, 'select answer from kept')).toEqual([[42]]);
    expect(await processStart(pid)).toBeUndefined();
  });

  test('and its server too, the next start recovers the data', async ({ initialized: workspace }) => {
    const owner = await startParleyProcess(workspace);
    await query(owner.line, 'create table kept as select 42 as answer');
    process.kill(await serverPid(workspace), 'SIGKILL');
    await owner.kill();
    expect(await query((await start(workspace)).url, 'select answer from kept')).toEqual([[42]]);
  });

  test('process ids in stale files that belong to other programs by now are ignored', async ({
    initialized: workspace,
  }) => {
    await writeFile(
      join(workspace.directory, 'owner-7.lock'),
      JSON.stringify({ pid: process.ppid, start: 'long ago' }),
    );
    await writeFile(join(workspace.directory, 'postgres/data/postmaster.pid'), `${process.ppid}\n/elsewhere\n`);
    expect(await query((await start(workspace)).url, 'select 1')).toEqual([[1]]);
    expect(await processStart(process.ppid)).toBeDefined();
  });
});

describe('two Parley processes', CONCURRENT, () => {
  test('cannot share a directory, and the error names the first process', async ({ initialized: workspace }) => {
    const owner = await startParleyProcess(workspace);
    const sentence = await userErrorMessage(start(workspace));
    expect(sentence).toMatch(RUNNING);
    expect(sentence).toContain(`(process ${owner.pid})`);
    expect(await query(owner.line, 'select 1')).toEqual([[1]]);
  });

  test('that start concurrently have one winner, even after a killed one', async ({ workspace }) => {
    for (const round of ['nobody was there', 'one was killed']) {
      const owners = await Promise.all([1, 2, 3].map(() => startParleyProcess(workspace)));
      const winners = owners.filter(owner => owner.line.startsWith('postgres://'));
      expect(winners, round).toHaveLength(1);
      expect(owners.filter(owner => RUNNING.test(owner.line))).toHaveLength(2);
      await winners[0]?.kill();
    }
  });

  test('run concurrently in two directories', async ({ initialized: workspace, cluster }) => {
    const directory = join(workspace.path, 'other');
    await copyCluster(workspace, cluster, { directory });
    const [one, two] = await Promise.all([start(workspace), start(workspace, { directory })]);
    expect(one.url).not.toBe(two.url);
  });
});

describe('a port that is in use', CONCURRENT, () => {
  test('is an error if it was requested, before any file is created', async ({ workspace }) => {
    const other = createServer().listen(0, '127.0.0.1');
    workspace.cleanups.push(() => other.close());
    await once(other, 'listening');
    const { port } = other.address() as AddressInfo;
    expect(await userErrorMessage(start(workspace, { port }))).toMatch(
      new RegExp(`^Port ${port} on 127\\.0\\.0\\.1, .*is in use\\. Choose another port`),
    );
    expect(await readdir(join(workspace.directory, 'postgres'))).toEqual([]);
  });

  test('is replaced by a free one if it was not requested', async ({ initialized: workspace }) => {
    const first = await start(workspace);
    await first.stop();
    const port = Number(new URL(first.url).port);
    const other = createServer().listen(port, '127.0.0.1');
    workspace.cleanups.push(() => other.close());
    const second = await start(workspace);
    expect(Number(new URL(second.url).port)).not.toBe(port);
    expect(await query(second.url, 'select 1')).toEqual([[1]]);
  });
});

describe('data', CONCURRENT, () => {
  test('are removed by --reset, and nothing else; the next start creates a new cluster, even after an interrupted one', async ({
    initialized: workspace,
  }) => {
    const first = await start(workspace);
    await query(first.url, 'create table gone ()');
    await writeFile(join(workspace.directory, 'secret-key'), 'of somebody else');
    expect(await userErrorMessage(removeEmbeddedPostgres(workspace.directory, { log }))).toMatch(RUNNING);
    await first.stop();
    await removeEmbeddedPostgres(workspace.directory, { log });
    await removeEmbeddedPostgres(workspace.directory, { log });
    expect(await readdir(workspace.directory)).not.toContain('postgres');
    expect(await readFile(join(workspace.directory, 'secret-key'), 'utf8')).toBe('of somebody else');

    await mkdir(join(workspace.directory, 'postgres/data.new/base'), { recursive: true });
    const second = await start(workspace);
    expect(second.createdCluster).toBe(true);
    expect(await query(second.url, `select to_regclass('gone')`)).toEqual([[null]]);
  });

  test('of another major version are rejected and left unchanged', async ({ initialized: workspace }) => {
    const file = join(workspace.directory, 'postgres/data/PG_VERSION');
    await writeFile(file, '17\n');
    expect(await userErrorMessage(start(workspace))).toMatch(
      /written by PostgreSQL 17; this version of Parley bundles PostgreSQL 18\..*--reset/,
    );
    expect(await readFile(file, 'utf8')).toBe('17\n');
  });

  test('that are corrupt are rejected and left unchanged', async ({ initialized: workspace }) => {
    const data = join(workspace.directory, 'postgres/data');
    await cp(join(data, 'PG_VERSION'), join(workspace.path, 'PG_VERSION'));
    await rm(join(data, 'PG_VERSION'));
    expect(await userErrorMessage(start(workspace))).toContain('is not a PostgreSQL cluster');
    expect((await stat(join(data, 'base'))).isDirectory()).toBe(true);
    await rm(join(data, 'global/pg_control'));
    await cp(join(workspace.path, 'PG_VERSION'), join(data, 'PG_VERSION'));
    expect(await userErrorMessage(start(workspace))).toMatch(
      /did not start\. Its output:[\s\S]*pg_control[\s\S]*server\.log/,
    );
  });
});

describe('the disk and its permissions', CONCURRENT, () => {
  test.runIf(isRoot && onLinux)(
    'a full disk is reported as such, at the first start and later (needs root, to mount a small disk)',
    async ({ workspace, skip }) => {
      await mkdir(workspace.directory);
      const mounted = await run('/bin/mount', ['-t', 'tmpfs', '-o', 'size=6m,mode=755', 'tmpfs', workspace.directory]);
      skip(mounted.code !== 0, 'A container may not mount.');
      workspace.cleanups.push(() => run('/bin/umount', [workspace.directory]));
      const full = /^The disk of .*\.parley is full/;
      expect(await userErrorMessage(start(workspace))).toMatch(full);

      await run('/bin/mount', ['-o', 'remount,size=100m', workspace.directory]);
      await (await start(workspace)).stop();
      const filled = await run('/bin/dd', ['if=/dev/zero', `of=${workspace.directory}/filler`, 'bs=64k']);
      expect(filled.output).toContain('No space left');
      expect(await userErrorMessage(start(workspace))).toMatch(full);

      await rm(join(workspace.directory, 'filler'));
      expect(await query((await start(workspace)).url, 'select 1')).toEqual([[1]]);
    },
  );

  test.runIf(!isRoot)(
    'an unwritable directory is named in the error (not as root, who can write everywhere)',
    async ({ workspace }) => {
      await chmod(workspace.path, 0o555);
      workspace.cleanups.push(() => chmod(workspace.path, 0o755));
      expect(await userErrorMessage(start(workspace))).toMatch(/^Parley cannot write to .*\.parley/);
    },
  );
});
