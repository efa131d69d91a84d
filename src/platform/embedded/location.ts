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
export interface Place {
  readonly home: string;
  readonly data: string;
  /** Undefined: the server runs as the user that runs Parley. */
  readonly user: ServerUser | undefined;
}

/** Where root keeps what the server's user must reach when `directory` is closed to it; the first that works is used. */
export const FALLBACK_ROOTS: readonly string[] = ['/var/lib/parley', '/var/tmp/parley'];

/** Accounts that may run the server in root's stead, best first. An administrator who wants another one creates `parley`. */
const SERVER_USERS = ['parley', 'postgres', 'nobody'];

/** In `directory`: the home itself, or a symlink to it. */
const HOME = 'postgres';
/** In a home outside `directory`: the path of the directory that it serves. */
const BELONGS_TO = 'belongs-to';

/**
 * Finds the home of the server of `directory`, or makes one: inside, unless Parley is root and its server's user cannot
 * reach the inside.
 *
 * @throws UserError when no place or no user can be found.
 */
export async function choosePlace(directory: string, roots: readonly string[]): Promise<Place> {
  const existing = await findHome(directory, roots);
  if (existing !== undefined) {
    const owner = await serverUser(existing);
    if (owner !== undefined && !(await mayEnter(owner, existing))) throw closedDirectory(existing, owner.uid);
    return placeAt(existing, owner);
  }
  const user = await serverUser(undefined);
  if (user === undefined || (await mayEnter(user, directory))) {
    const home = join(directory, HOME);
    await makeDirectory(home, 0o711);
    return placeAt(home, user);
  }
  const root = await trustedRoot(roots, user);
  if (root === undefined) throw closedDirectory(directory, user.uid);
  const home = join(root, homeName(directory));
  // If `directory` was deleted, start anew, as with data inside it; mention the old data, which --reset deletes.
  if (await isTrusted(home)) await rename(home, `${home}.${randomUUID()}`);
  await trustedDirectory(home);
  await writeFile(join(home, BELONGS_TO), directory);
  await symlink(home, join(directory, HOME));
  return placeAt(home, user);
}

/** All homes that serve `directory`, including those whose symlink was deleted. */
export async function allHomes(directory: string, roots: readonly string[]): Promise<string[]> {
  const found = await findHome(directory, roots);
  const homes = new Set(found === undefined ? [] : [found]);
  for (const root of roots) {
    const names = (await isTrusted(root)) ? await readdir(root) : [];
    for (const home of names.map(name => join(root, name))) {
      if ((await ownerNote(home)) === directory) homes.add(home);
    }
  }
  return [...homes];
}

/** Removes a home and what leads to it. */
export async function removeHome(directory: string, home: string): Promise<void> {
  await rm(home, { recursive: true, force: true });
  await rm(join(directory, HOME), { force: true, recursive: true });
}

/** Makes an empty directory that belongs to the server's user and is closed to everyone else. */
export async function makePrivate(path: string, user: ServerUser | undefined): Promise<void> {
  await makeDirectory(path, 0o700);
  if (user !== undefined) await chown(path, user.uid, user.gid);
}

/**
 * The first of `roots` that is, or becomes, a directory of root's in which no other user writes, and that `user` can enter.
 * A name in /var/tmp may have been taken by anybody, with a symlink or a directory of their own: such a one is passed over.
 */
export async function trustedRoot(roots: readonly string[], user: ServerUser): Promise<string | undefined> {
  for (const root of roots) {
    const trusted = await trustedDirectory(root).then(
      () => true,
      () => false,
    );
    if (trusted && (await mayEnter(user, root))) return root;
  }
  return undefined;
}

async function trustedDirectory(path: string): Promise<void> {
  await makeDirectory(path, 0o711).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'EEXIST') throw error;
  });
  if (await isTrusted(path)) return;
  throw new UserError(
    `${path} exists, but is not a directory that belongs to this user and that nobody else may write. Look at who made it, remove it and start again.`,
  );
}

/** Whether a path is itself (not through a symlink) a directory of ours in which no other user may write. */
export async function isTrusted(path: string): Promise<boolean> {
  const found = await lstat(path).catch(() => undefined);
  return found?.isDirectory() === true && found.uid === process.geteuid?.() && (found.mode & 0o022) === 0;
}

/** With exactly `mode`: mkdir alone would subtract the umask, and under 077 the server's user could not pass. */
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
  // Only a link that Parley itself would lay is followed: --reset deletes what it finds there.
  const ours = roots.includes(dirname(home)) && (await isTrusted(home));
  const served = ours ? await ownerNote(home) : undefined;
  if (served === directory) return home;
  // The directory was moved, and its data with it; a copy, whose original still stands, gets data of its own.
  if (served !== undefined && !(await exists(served))) {
    await writeFile(join(home, BELONGS_TO), directory);
    return home;
  }
  await rm(path);
  return undefined;
}

export function placeAt(home: string, user: ServerUser | undefined): Place {
  return { home, data: join(home, 'data'), user };
}

/** A unique name for a directory that still resembles its path. */
function homeName(directory: string): string {
  const hash = createHash('sha256').update(directory).digest('hex').slice(0, 16);
  return `${basename(dirname(directory)).replace(/[^\w-]/g, '_')}-${hash}`;
}

async function ownerNote(home: string): Promise<string | undefined> {
  if (!(await isTrusted(home))) return undefined;
  return readFile(join(home, BELONGS_TO), 'utf8').catch(() => undefined);
}

/** Under root the server runs as the owner of existing data, who can then continue without root; otherwise as an account of the list. */
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
 * Whether `user` can enter a directory. Asked of the kernel, as that user: modes alone do not tell (access lists, mounts,
 * security modules).
 *
 * @throws UserError when root may not become `user` (a container without CAP_SETUID).
 */
export async function mayEnter(user: ServerUser, path: string): Promise<boolean> {
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
