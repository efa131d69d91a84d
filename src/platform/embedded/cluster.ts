import { randomBytes } from 'node:crypto';
import { chown, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import pg from 'pg';
import { type Binaries, program } from './binaries.ts';
import { damagedCluster, otherMajorVersion, outputFault, passwordMissing } from './errors.ts';
import { makePrivate, type Place } from './location.ts';
import { run } from './process.ts';

/** The role that Parley connects as (a superuser of its own cluster) and the database that it uses. */
const ROLE = 'parley';
const DATABASE = 'parley';

/**
 * The first of these that the system knows becomes LC_CTYPE. Sorting and case come from PostgreSQL's builtin C.UTF-8,
 * the same on every machine; but pg_trgm asks the C library which characters are letters, and under LC_CTYPE C only
 * the ASCII ones are: a name in Cyrillic or Devanagari would have no trigram and never be found.
 */
const CHARACTER_TYPES = ['C.UTF-8', 'en_US.UTF-8', 'C'];

/**
 * Makes the cluster unless it exists. Returns whether it was made now. A crash half-way leaves nothing that a later
 * start would take for a cluster.
 *
 * @param durable false: files are not flushed to the disk (tests)
 * @throws UserError when `initdb` fails, or the cluster that exists is of another major version.
 */
export async function ensureCluster(
  directory: string,
  place: Place,
  binaries: Binaries,
  durable: boolean,
): Promise<boolean> {
  const written = await readFile(join(place.data, 'PG_VERSION'), 'utf8').catch(unlessMissing);
  if (written !== undefined) {
    const [major = ''] = binaries.version.split('.');
    if (written.trim() !== major) throw otherMajorVersion(place.data, written.trim().slice(0, 8), Number(major));
    return false;
  }
  if (await stat(place.data).catch(unlessMissing)) throw damagedCluster(place.data);
  const draft = join(place.home, 'data.new');
  await rm(draft, { recursive: true, force: true });
  await makePrivate(draft, place.user);
  const password = randomBytes(24).toString('hex');
  await writeSecret(passwordFile(place), password);
  await initialize(directory, draft, place, binaries, { password, durable });
  await rename(draft, place.data);
  return true;
}

async function initialize(
  directory: string,
  data: string,
  place: Place,
  binaries: Binaries,
  options: { password: string; durable: boolean },
): Promise<void> {
  // initdb reads the password as the server's user, from a file of its own that lives only as long as initdb does.
  const handover = join(place.home, 'password.new');
  try {
    await writeSecret(handover, options.password);
    if (place.user !== undefined) await chown(handover, place.user.uid, place.user.gid);
    let output = '';
    for (const characterType of CHARACTER_TYPES) {
      const outcome = await run(
        program(binaries, 'initdb'),
        [
          `--pgdata=${data}`,
          `--username=${ROLE}`,
          '--auth=scram-sha-256',
          `--pwfile=${handover}`,
          '--encoding=UTF8',
          '--locale-provider=builtin',
          '--builtin-locale=C.UTF-8',
          '--locale=C',
          `--lc-ctype=${characterType}`,
          // Half of what initdb writes is the first segment of the log.
          ...(options.durable ? [] : ['--no-sync', '--wal-segsize=1']),
        ],
        place.user,
      );
      if (outcome.code === 0) return;
      output = outcome.output || (outcome.error?.message ?? '');
      if (!output.includes('invalid locale name')) break;
    }
    throw outputFault(output, { directory });
  } finally {
    await rm(handover, { force: true });
  }
}

/**
 * Makes the database unless it exists, on a server that has just started. Returns its connection string.
 *
 * @throws UserError when the password file is gone.
 */
export async function ensureDatabase(place: Place, port: number): Promise<string> {
  const file = passwordFile(place);
  const password = (await readFile(file, 'utf8').catch(unlessMissing))?.trim();
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

function passwordFile(place: Place): string {
  return join(place.home, 'password');
}

/** Only absence is absence: data that may not be read must not be taken for none and made anew. */
function unlessMissing(error: NodeJS.ErrnoException): undefined {
  if (error.code !== 'ENOENT') throw error;
}

async function writeSecret(file: string, text: string): Promise<void> {
  await rm(file, { force: true });
  await writeFile(file, text, { mode: 0o600, flag: 'wx' });
}
