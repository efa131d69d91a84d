import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, parse } from 'node:path';
import { Kysely, PostgresDialect, sql } from 'kysely';
import { type Migration, Migrator } from 'kysely/migration';
import pg from 'pg';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import { VERSION } from '../../src/platform/version.ts';
import { run } from '../cli/program.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { eventually } from '../support/gateway.ts';

/** A process starts on its own schema alone, and an older program leaves a newer schema as it is. */

const MIGRATIONS = join(import.meta.dirname, '../../migrations');

let database: TestDatabase;
let directory: string;
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'parley-schema-'));
});
afterAll(() => rm(directory, { recursive: true, force: true }));
beforeEach(async () => {
  database = await createTestDatabase();
});
afterEach(() => database.drop());

/** Processes start while other tests run: the default of five seconds is not always enough. */
const PATIENCE = { PARLEY_DATABASE_CONNECT_TIMEOUT_MS: '60000' };

const parley = (...args: string[]) =>
  run(directory, args, {
    DATABASE_URL: database.url,
    PARLEY_SECRET_KEY: Buffer.alloc(32, 7).toString('base64'),
    PORT: '0',
    ...PATIENCE,
  });

const applied = async (): Promise<string[]> =>
  (await database.query<{ name: string }>('select name from kysely_migration order by name')).map(({ name }) => name);

test('serve and migrate reject a database of a newer version, name both versions, and change nothing', async () => {
  await database.query(`insert into kysely_migration (name, timestamp) values ('9999_future', now()::text)`);
  await database.query(`comment on table kysely_migration is 'Parley 9.9.9'`);
  const [last] = await database.query<{ name: string }>(
    `delete from kysely_migration where name = (select max(name) from kysely_migration where name < '9999') returning name`,
  );
  const before = await applied();
  for (const command of [['serve'], ['serve', '--migrate'], ['migrate'], ['migrate', '--status']]) {
    const { code, output } = await parley(...command);
    expect(code).toBe(1);
    expect(output).toContain('Parley 9.9.9 (up to 9999_future)');
    expect(output).toContain(`Parley ${VERSION} (up to ${last?.name})`);
    expect(output).toContain('Run the newer version');
  }
  expect(await applied()).toEqual(before);
});

test('serve rejects a database of an older version, and names the missing migrations and the command', async () => {
  const [last] = await database.query<{ name: string }>(
    'delete from kysely_migration where name = (select max(name) from kysely_migration) returning name',
  );
  const { code, output } = await parley('serve');
  expect(code).toBe(1);
  expect(output).toContain(`Parley ${VERSION} needs 1 more migration(s), from ${last?.name}`);
  expect(output).toContain('`parley migrate`');
});

/** Makes the schema of before the last migration: most cannot be applied twice. */
async function applyAllButTheLast(): Promise<void> {
  await database.query('drop schema public cascade');
  await database.query('create schema public');
  const names = (await readdir(MIGRATIONS)).map(file => parse(file).name).sort();
  const getMigrations = async (): Promise<Record<string, Migration>> =>
    Object.fromEntries(
      names.map(name => [
        name,
        { up: async db => void (await sql.raw(await readFile(join(MIGRATIONS, `${name}.sql`), 'utf8')).execute(db)) },
      ]),
    );
  const db = new Kysely<unknown>({
    dialect: new PostgresDialect({ pool: new pg.Pool({ connectionString: database.url }) }),
  });
  try {
    const { error } = await new Migrator({ db, provider: { getMigrations } }).migrateTo(names.at(-2) ?? '');
    expect(error).toBeUndefined();
  } finally {
    await db.destroy();
  }
}

test('migrate beside a process that holds its locks in another order changes nothing, and says to stop the processes', async () => {
  await applyAllButTheLast();
  const before = await applied();
  const other = new pg.Client({ connectionString: database.url, options: '-c deadlock_timeout=1h' });
  await other.connect();
  try {
    await other.query('begin');
    await other.query('lock table kysely_migration in share mode');
    // Longer than a second: the other process waits before the migration looks for a deadlock.
    const url = `${database.url}?options=${encodeURIComponent('-c deadlock_timeout=5s')}`;
    const migrating = run(directory, ['migrate'], { DATABASE_URL: url, ...PATIENCE });
    const key = await eventually(async () => {
      const { rows } = await other.query<{ key: string }>(
        `select ((a.classid::bigint << 32) | a.objid::bigint)::text as key from pg_locks a join pg_locks w on w.pid = a.pid
         where a.locktype = 'advisory' and a.granted and not w.granted and w.relation = 'kysely_migration'::regclass`,
      );
      expect(rows).toHaveLength(1);
      return rows[0]?.key;
    });
    const waiting = other.query('select pg_advisory_xact_lock($1)', [key]);
    const { code, output } = await migrating;
    expect(code).toBe(1);
    expect(output).toContain('nothing was changed: deadlock detected. Stop all processes on this database');
    await waiting;
  } finally {
    await other.end();
  }
  expect(await applied()).toEqual(before);
});
