import { once } from 'node:events';
import { chmod, cp, mkdir, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { type AddressInfo, createServer } from 'node:net';
import { join } from 'node:path';
import { describe, expect } from 'vitest';
import { removeEmbeddedPostgres, startEmbeddedPostgres } from '../../../src/platform/embedded/postgres.ts';
import { isServerOf, processStart, run } from '../../../src/platform/embedded/process.ts';
import { crowding } from '../../support/durations.ts';
import {
  test as base,
  DEEP,
  furnish,
  isRoot,
  killWatchdog,
  log,
  onLinux,
  query,
  refusal,
  serverPid,
  sideBySide,
  start,
  startOwner,
} from './fixture.ts';

const RUNNING = /^Parley is already running in .*\.parley \(process \d+\)\. Stop it first, or use another directory\.$/;

/** The tests of this file; `server` is shared by tests that only read. */
const test = base.extend('server', { scope: 'file' }, async ({ shared, cluster }, { onCleanup }) => {
  const directory = join(shared, DEEP);
  await furnish({ directory, shared }, cluster);
  const options = { directory, durable: true, maxConnections: 17, fallbackRoots: [shared] };
  const { url, stop } = await startEmbeddedPostgres({ ...options, log });
  onCleanup(stop);
  return { url, directory };
});

describe('an embedded PostgreSQL', () => {
  test('keeps its rows and its port across a restart', async ({ furnished }) => {
    const first = await start(furnished);
    await query(first.url, 'create table kept as select 42 as answer');
    await Promise.all([first.stop(), first.stop()]);

    const second = await start(furnished);
    expect(second).toMatchObject({ createdCluster: false, url: first.url });
    expect(await query(second.url, 'select answer from kept')).toEqual([[42]]);
  });

  test('starts within 3 s the first time and within 1 s later, if the machine is idle', async ({
    furnished: room,
    cluster,
  }) => {
    const timed = async (directory: string, createdCluster: boolean): Promise<number> => {
      const from = performance.now();
      const server = await start(room, { directory });
      const ms = performance.now() - from;
      expect(server.createdCluster).toBe(createdCluster);
      await server.stop();
      return ms;
    };
    const first = (attempt: number) =>
      attempt === 0 ? cluster.startMs : timed(join(room.path, `first ${attempt}`), true);
    expect(await bestBelow(3_000, first)).toBeLessThan(3_000);
    expect(await bestBelow(1_000, () => timed(room.directory, false))).toBeLessThan(1_000);
  });
});

/** Other load only makes a start slower, so the best of at most four counts, scaled by this process's share of the CPU. */
async function bestBelow(boundMs: number, measure: (attempt: number) => Promise<number> | number): Promise<number> {
  let best = Number.POSITIVE_INFINITY;
  for (let attempt = 0; attempt < 4 && best >= boundMs; attempt += 1) {
    const ms = await measure(attempt);
    best = Math.min(best, ms < boundMs ? ms : ms / crowding());
  }
  return best;
}

describe('the embedded server', sideBySide, () => {
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

describe('when Parley is killed', sideBySide, () => {
  test('the server stops with it, and the next start has every committed row', async ({ furnished: room }) => {
    const owner = await startOwner(room);
    await query(owner.line, 'create table kept as select 42 as answer');
    const pid = await serverPid(room);
    await owner.kill();
    await expect.poll(() => processStart(pid)).toBeUndefined();
    expect(await query((await start(room)).url, 'select answer from kept')).toEqual([[42]]);
  });

  test.runIf(onLinux)('the next start stops a server that was left running', async ({ furnished: room }) => {
    const owner = await startOwner(room);
    await query(owner.line, 'create table kept as select 42 as answer');
    const pid = await serverPid(room);
    await killWatchdog(pid);
    await owner.kill();
    expect(await isServerOf(pid, join(room.directory, 'postgres/data'))).toBe(true);
    expect(await query((await start(room)).url, 'select answer from kept')).toEqual([[42]]);
    expect(await processStart(pid)).toBeUndefined();
  });

  test('and its server too, the next start recovers the data', async ({ furnished: room }) => {
    const owner = await startOwner(room);
    await query(owner.line, 'create table kept as select 42 as answer');
    process.kill(await serverPid(room), 'SIGKILL');
    await owner.kill();
    expect(await query((await start(room)).url, 'select answer from kept')).toEqual([[42]]);
  });

  test('process ids in stale files that belong to other programs by now are ignored', async ({ furnished: room }) => {
    await writeFile(join(room.directory, 'owner-7.lock'), JSON.stringify({ pid: process.ppid, start: 'long ago' }));
    await writeFile(join(room.directory, 'postgres/data/postmaster.pid'), `${process.ppid}\n/elsewhere\n`);
    expect(await query((await start(room)).url, 'select 1')).toEqual([[1]]);
    expect(await processStart(process.ppid)).toBeDefined();
  });
});

describe('two Parley processes', sideBySide, () => {
  test('cannot share a directory, and the error names the first process', async ({ furnished: room }) => {
    const owner = await startOwner(room);
    const sentence = await refusal(start(room));
    expect(sentence).toMatch(RUNNING);
    expect(sentence).toContain(`(process ${owner.pid})`);
    expect(await query(owner.line, 'select 1')).toEqual([[1]]);
  });

  test('that start concurrently have one winner, even after a killed one', async ({ room }) => {
    for (const round of ['nobody was there', 'one was killed']) {
      const owners = await Promise.all([1, 2, 3].map(() => startOwner(room)));
      const winners = owners.filter(owner => owner.line.startsWith('postgres://'));
      expect(winners, round).toHaveLength(1);
      expect(owners.filter(owner => RUNNING.test(owner.line))).toHaveLength(2);
      await winners[0]?.kill();
    }
  });

  test('run concurrently in two directories', async ({ furnished: room, cluster }) => {
    const directory = join(room.path, 'other');
    await furnish(room, cluster, { directory });
    const [one, two] = await Promise.all([start(room), start(room, { directory })]);
    expect(one.url).not.toBe(two.url);
  });
});

describe('a port that is in use', sideBySide, () => {
  test('is an error if it was requested, before any file is created', async ({ room }) => {
    const other = createServer().listen(0, '127.0.0.1');
    room.cleanups.push(() => other.close());
    await once(other, 'listening');
    const { port } = other.address() as AddressInfo;
    expect(await refusal(start(room, { port }))).toMatch(
      new RegExp(`^Port ${port} on 127\\.0\\.0\\.1, .*is in use\\. Choose another port`),
    );
    expect(await readdir(join(room.directory, 'postgres'))).toEqual([]);
  });

  test('is replaced by a free one if it was not requested', async ({ furnished: room }) => {
    const first = await start(room);
    await first.stop();
    const port = Number(new URL(first.url).port);
    const other = createServer().listen(port, '127.0.0.1');
    room.cleanups.push(() => other.close());
    const second = await start(room);
    expect(Number(new URL(second.url).port)).not.toBe(port);
    expect(await query(second.url, 'select 1')).toEqual([[1]]);
  });
});

describe('data', sideBySide, () => {
  test('are removed by --reset, and nothing else; the next start creates a new cluster, even after an interrupted one', async ({
    furnished: room,
  }) => {
    const first = await start(room);
    await query(first.url, 'create table gone ()');
    await writeFile(join(room.directory, 'secret-key'), 'of somebody else');
    expect(await refusal(removeEmbeddedPostgres(room.directory, { log }))).toMatch(RUNNING);
    await first.stop();
    await removeEmbeddedPostgres(room.directory, { log });
    await removeEmbeddedPostgres(room.directory, { log });
    expect(await readdir(room.directory)).not.toContain('postgres');
    expect(await readFile(join(room.directory, 'secret-key'), 'utf8')).toBe('of somebody else');

    await mkdir(join(room.directory, 'postgres/data.new/base'), { recursive: true });
    const second = await start(room);
    expect(second.createdCluster).toBe(true);
    expect(await query(second.url, `select to_regclass('gone')`)).toEqual([[null]]);
  });

  test('of another major version are rejected and left unchanged', async ({ furnished: room }) => {
    const file = join(room.directory, 'postgres/data/PG_VERSION');
    await writeFile(file, '17\n');
    expect(await refusal(start(room))).toMatch(
      /written by PostgreSQL 17; this version of Parley bundles PostgreSQL 18\..*--reset/,
    );
    expect(await readFile(file, 'utf8')).toBe('17\n');
  });

  test('that are corrupt are rejected and left unchanged', async ({ furnished: room }) => {
    const data = join(room.directory, 'postgres/data');
    await cp(join(data, 'PG_VERSION'), join(room.path, 'PG_VERSION'));
    await rm(join(data, 'PG_VERSION'));
    expect(await refusal(start(room))).toContain('is not a PostgreSQL cluster');
    expect((await stat(join(data, 'base'))).isDirectory()).toBe(true);
    await rm(join(data, 'global/pg_control'));
    await cp(join(room.path, 'PG_VERSION'), join(data, 'PG_VERSION'));
    expect(await refusal(start(room))).toMatch(/did not start\. Its output:[\s\S]*pg_control[\s\S]*server\.log/);
  });
});

describe('the disk and its permissions', sideBySide, () => {
  test.runIf(isRoot && onLinux)(
    'a full disk is reported as such, at the first start and later (needs root, to mount a small disk)',
    async ({ room, skip }) => {
      await mkdir(room.directory);
      const mounted = await run('/bin/mount', ['-t', 'tmpfs', '-o', 'size=6m,mode=755', 'tmpfs', room.directory]);
      skip(mounted.code !== 0, 'A container may not mount.');
      room.cleanups.push(() => run('/bin/umount', [room.directory]));
      const full = /^The disk of .*\.parley is full/;
      expect(await refusal(start(room))).toMatch(full);

      await run('/bin/mount', ['-o', 'remount,size=100m', room.directory]);
      await (await start(room)).stop();
      const filled = await run('/bin/dd', ['if=/dev/zero', `of=${room.directory}/filler`, 'bs=64k']);
      expect(filled.output).toContain('No space left');
      expect(await refusal(start(room))).toMatch(full);

      await rm(join(room.directory, 'filler'));
      expect(await query((await start(room)).url, 'select 1')).toEqual([[1]]);
    },
  );

  test.runIf(!isRoot)(
    'an unwritable directory is named in the error (not as root, who can write everywhere)',
    async ({ room }) => {
      await chmod(room.path, 0o555);
      room.cleanups.push(() => chmod(room.path, 0o755));
      expect(await refusal(start(room))).toMatch(/^Parley cannot write to .*\.parley/);
    },
  );
});
