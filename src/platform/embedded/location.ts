import { createHash, randomUUID } from 'node:crypto';
import {
  chmod,
  chown,
  lstat,
  mkdir,
  readdir,
  readFile,
  readlink,
  realpath,
  rename,
  rm,
  stat,
  symlink,
  writeFile,
} from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { UserError } from '../user-error.ts';
import { cannotChangeUser, closedDirectory, noServerUser } from './errors.ts';
import { run, type ServerUser } from './process.ts';

/**
 * Location of the server's files. `home` belongs to the user that runs Parley and contains the password, the port and the log;
 * `home/data` belongs to the server's user. They are separate so that root never writes into a directory in which the server's user
 * could have placed a symlink.
 */
export interface ServerLocation {
  readonly home: string;
  readonly data: string;
  /** Undefined: the server runs as the user that runs Parley. */
  readonly user: ServerUser | undefined;
}

/** Where root stores files for the server's user if that user cannot access `directory`; the first usable one is used. */
export const FALLBACK_ROOTS: readonly string[] = ['/var/lib/parley', '/var/tmp/parley'];

/** Accounts that may run the server instead of root, in order of preference. To use a dedicated account, create `parley`. */
const SERVER_USERS = ['parley', 'postgres', 'nobody'];

/** In `directory`: the home itself, or a symlink to it. */
const HOME = 'postgres';
/** In a home outside `directory`: the path of the directory that it serves. */
const BELONGS_TO = 'belongs-to';

/**
 * Finds or creates the home of the server of `directory`: inside it, unless Parley is root and the server's user cannot
 * access it.
 *
 * @throws UserError if no location or no user is suitable
 */
export async function chooseLocation(directory: string, roots: readonly string[]): Promise<ServerLocation> {
  const existing = await findHome(directory, roots);
  if (existing !== undefined) {
    const owner = await serverUser(existing);
    if (owner !== undefined && !(await canEnter(owner, existing))) throw closedDirectory(existing, owner.uid);
    return locationAt(existing, owner);
  }
  const user = await serverUser(undefined);
  if (user === undefined || (await canEnter(user, directory))) {
    const home = join(directory, HOME);
    await makeDirectory(home, 0o711);
    return locationAt(home, user);
  }
  const root = await trustedRoot(roots, user);
  if (root === undefined) throw closedDirectory(directory, user.uid);
  const home = join(root, homeName(directory));
  // If `directory` was deleted, start anew, as with data inside it; mention the old data, which --reset deletes.
  if (await isTrusted(home)) await rename(home, `${home}.${randomUUID()}`);
  await trustedDirectory(home);
  await writeFile(join(home, BELONGS_TO), directory);
  await symlink(home, join(directory, HOME));
  return locationAt(home, user);
}

/** All homes that serve `directory`, including those whose symlink was deleted. */
export async function allHomes(directory: string, roots: readonly string[]): Promise<string[]> {
  const found = await findHome(directory, roots);
  const homes = new Set(found === undefined ? [] : [found]);
  for (const root of roots) {
    const names = (await isTrusted(root)) ? await readdir(root) : [];
    for (const home of names.map(name => join(root, name))) {
      if ((await readOwnerNote(home)) === directory) homes.add(home);
    }
  }
  return [...homes];
}

/** Removes a home and the symlink to it. */
export async function removeHome(directory: string, home: string): Promise<void> {
  await rm(home, { recursive: true, force: true });
  await rm(join(directory, HOME), { force: true, recursive: true });
}

/** Creates an empty directory that only the server's user can access. */
export async function makePrivate(path: string, user: ServerUser | undefined): Promise<void> {
  await makeDirectory(path, 0o700);
  if (user !== undefined) await chown(path, user.uid, user.gid);
}

/**
 * Returns the first of `roots` that is (or can be created as) a directory owned by root, not writable by other users, and accessible
 * to `user`. Skips a name in /var/tmp that another user has taken with a symlink or directory.
 */
export async function trustedRoot(roots: readonly string[], user: ServerUser): Promise<string | undefined> {
  for (const root of roots) {
    const trusted = await trustedDirectory(root).then(
      () => true,
      () => false,
    );
    if (trusted && (await canEnter(user, root))) return root;
  }
  return undefined;
}

async function trustedDirectory(path: string): Promise<void> {
  await makeDirectory(path, 0o711).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'EEXIST') throw error;
  });
  if (await isTrusted(path)) return;
  throw new UserError(
    `${path} exists, but is not a directory owned by this user and writable only by this user. Find out who created it, remove it and start again.`,
  );
}

/** Whether a path is a directory (not a symlink) that this user owns and no other user may write to. */
export async function isTrusted(path: string): Promise<boolean> {
  const found = await lstat(path).catch(() => undefined);
  return found?.isDirectory() === true && found.uid === process.geteuid?.() && (found.mode & 0o022) === 0;
}

/** Creates a directory with exactly `mode`: mkdir applies the umask, and with 077 the server's user would have no access. */
async function makeDirectory(path: string, mode: number): Promise<void> {
  await mkdir(path, { mode });
  await chmod(path, mode);
}

async function findHome(directory: string, roots: readonly string[]): Promise<string | undefined> {
  const path = join(directory, HOME);
  const found = await lstat(path).catch(() => undefined);
  if (found === undefined) return undefined;
  if (!found.isSymbolicLink()) return path;
  const home = await readlink(path);
  // Follows only symlinks that Parley itself would create, because --reset deletes their targets.
  const ours = roots.includes(dirname(home)) && (await isTrusted(home));
  const served = ours ? await readOwnerNote(home) : undefined;
  if (served === directory) return home;
  // The directory was moved with its data. A copy, whose original still exists, gets separate data.
  if (served !== undefined && !(await exists(served))) {
    await writeFile(join(home, BELONGS_TO), directory);
    return home;
  }
  await rm(path);
  return undefined;
}

export function locationAt(home: string, user: ServerUser | undefined): ServerLocation {
  return { home, data: join(home, 'data'), user };
}

/** A unique name for a directory that still resembles its path. */
function homeName(directory: string): string {
  const hash = createHash('sha256').update(directory).digest('hex').slice(0, 16);
  return `${basename(dirname(directory)).replace(/[^\w-]/g, '_')}-${hash}`;
}

async function readOwnerNote(home: string): Promise<string | undefined> {
  if (!(await isTrusted(home))) return undefined;
  return readFile(join(home, BELONGS_TO), 'utf8').catch(() => undefined);
}

/** If Parley is root, the server runs as the owner of existing data (who can later run Parley without root), otherwise as one of `SERVER_USERS`. */
async function serverUser(home: string | undefined): Promise<ServerUser | undefined> {
  if (process.geteuid?.() !== 0) return undefined;
  for (const path of home === undefined ? [] : [join(home, 'data'), home]) {
    const owner = await stat(path).catch(() => undefined);
    if (owner !== undefined && owner.uid !== 0) return { uid: owner.uid, gid: owner.gid };
  }
  const accounts = (await readFile('/etc/passwd', 'utf8')).split('\n').map(line => line.split(':'));
  for (const name of SERVER_USERS) {
    const account = accounts.find(([candidate]) => candidate === name);
    if (account !== undefined) return { uid: Number(account[2]), gid: Number(account[3]) };
  }
  throw noServerUser(SERVER_USERS);
}

/**
 * Whether `user` can enter a directory. Tried by a process of that user: modes do not show access lists, mounts and security
 * modules.
 *
 * @throws UserError if root cannot become `user` (a container without CAP_SETUID)
 */
async function canEnter(user: ServerUser, path: string): Promise<boolean> {
  const { code, error } = await run('/bin/sh', ['-c', 'cd -- "$0"', path], user);
  if (error?.code === 'EPERM' || error?.code === 'EINVAL') throw cannotChangeUser(error);
  return code === 0;
}

async function exists(path: string): Promise<boolean> {
  return realpath(path).then(
    () => true,
    () => false,
  );
}
