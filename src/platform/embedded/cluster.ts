import { randomBytes } from 'node:crypto';
import { chown, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import pg from 'pg';
import { type Binaries, program } from './binaries.ts';
import { damagedCluster, otherMajorVersion, outputFault, passwordMissing } from './errors.ts';
import { makePrivate, type ServerLocation } from './location.ts';
import { run } from './process.ts';

/** The role that Parley connects as (a superuser of the embedded cluster) and its database. */
const ROLE = 'parley';
const DATABASE = 'parley';

/**
 * Candidates for LC_CTYPE; the first that the system supports is used. Sorting and case folding use PostgreSQL's builtin C.UTF-8,
 * which is the same on every machine. But pg_trgm asks the C library which characters are letters, and under LC_CTYPE C only ASCII
 * letters are: a name in Cyrillic or Devanagari would have no trigrams and never be found.
 */
const CHARACTER_TYPES = ['C.UTF-8', 'en_US.UTF-8', 'C'];

/**
 * For tests. Half of the bytes that initdb writes are the first WAL segment. The default 4,096 iterations of a password's hash take
 * 2 ms of each of some thousand connections; the password is random.
 */
const UNSAFE_AND_FAST = ['--no-sync', '--wal-segsize=1', '--set=scram_iterations=1', '--no-data-checksums'];

/**
 * Creates the cluster unless it exists. A crash in between leaves nothing that a later start would take for a cluster.
 *
 * @param durable false: files are not flushed to disk (tests)
 * @returns whether this call created it
 */
export async function ensureCluster(
  directory: string,
  location: ServerLocation,
  binaries: Binaries,
  durable: boolean,
): Promise<boolean> {
  const written = await readFile(join(location.data, 'PG_VERSION'), 'utf8').catch(undefinedIfMissing);
  if (written !== undefined) {
    const [major = ''] = binaries.version.split('.');
    if (written.trim() !== major) throw otherMajorVersion(location.data, written.trim().slice(0, 8), Number(major));
    return false;
  }
  if (await stat(location.data).catch(undefinedIfMissing)) throw damagedCluster(location.data);
  const draft = join(location.home, 'data.new');
  await rm(draft, { recursive: true, force: true });
  await makePrivate(draft, location.user);
  const password = randomBytes(24).toString('hex');
  await writeSecret(passwordFile(location), password);
  await initialize(directory, draft, location, binaries, { password, durable });
  await rename(draft, location.data);
  return true;
}

async function initialize(
  directory: string,
  data: string,
  location: ServerLocation,
  binaries: Binaries,
  options: { password: string; durable: boolean },
): Promise<void> {
  // initdb runs as the server's user and reads the password from a temporary file that this user may read.
  const temporaryFile = join(location.home, 'password.new');
  try {
    await writeSecret(temporaryFile, options.password);
    if (location.user !== undefined) await chown(temporaryFile, location.user.uid, location.user.gid);
    let output = '';
    for (const characterType of CHARACTER_TYPES) {
      const outcome = await run(
        program(binaries, 'initdb'),
        [
          `--pgdata=${data}`,
          `--username=${ROLE}`,
          '--auth=scram-sha-256',
          `--pwfile=${temporaryFile}`,
          '--encoding=UTF8',
          '--locale-provider=builtin',
          '--builtin-locale=C.UTF-8',
          '--locale=C',
          `--lc-ctype=${characterType}`,
          ...(options.durable ? [] : UNSAFE_AND_FAST),
        ],
        location.user,
      );
      if (outcome.code === 0) return;
      output = outcome.output || (outcome.error?.message ?? '');
      if (!output.includes('invalid locale name')) break;
    }
    throw outputFault(output, { directory });
  } finally {
    await rm(temporaryFile, { force: true });
  }
}

/**
 * Creates the database unless it exists, on a server that has just started. Returns its connection string.
 *
 * @throws UserError if the password file is missing
 */
export async function ensureDatabase(location: ServerLocation, port: number): Promise<string> {
  const file = passwordFile(location);
  const password = (await readFile(file, 'utf8').catch(undefinedIfMissing))?.trim();
  if (password === undefined) throw passwordMissing(file);
  const url = (database: string) => `postgres://${ROLE}:${password}@127.0.0.1:${port}/${database}`;
  const client = new pg.Client({ connectionString: url('postgres') });
  await client.connect();
  try {
    const { rowCount } = await client.query('select 1 from pg_database where datname = $1', [DATABASE]);
    if (rowCount === 0) await client.query(`create database ${DATABASE}`);
  } finally {
    await client.end();
  }
  return url(DATABASE);
}

function passwordFile(location: ServerLocation): string {
  return join(location.home, 'password');
}

/** Treats only ENOENT as missing: unreadable data must not be replaced by a new cluster. */
function undefinedIfMissing(error: NodeJS.ErrnoException): undefined {
  if (error.code !== 'ENOENT') throw error;
}

async function writeSecret(file: string, text: string): Promise<void> {
  await rm(file, { force: true });
  await writeFile(file, text, { mode: 0o600, flag: 'wx' });
}
