import { readdir, readFile } from 'node:fs/promises';
import { sql } from 'kysely';
import { type Migration, Migrator } from 'kysely/migration';
import { UserError } from '../platform/user-error.ts';
import { VERSION } from '../platform/version.ts';
import type { Db } from './database.ts';

const DIRECTORY = new URL('../../migrations/', import.meta.url);

export interface MigrationState {
  readonly name: string;
  readonly appliedAt: Date | undefined;
}

/**
 * Numbered plain SQL files, forward only. Kysely's migrator takes an advisory lock, so concurrent runs are safe: the second finds
 * nothing to do.
 */
function migrator(db: Db): Migrator {
  return new Migrator({
    db,
    provider: {
      async getMigrations() {
        const files = (await readdir(DIRECTORY)).filter(file => file.endsWith('.sql')).sort();
        const migrations: Record<string, Migration> = {};
        for (const file of files) {
          const text = await readFile(new URL(file, DIRECTORY), 'utf8');
          migrations[file.replace(/\.sql$/, '')] = { up: async trx => void (await sql.raw(text).execute(trx)) };
        }
        return migrations;
      },
    },
  });
}

/** Lists the migrations of this version, with the time they were applied. Writes nothing. */
export async function migrationStates(db: Db): Promise<MigrationState[]> {
  const migrations = await migrator(db).getMigrations();
  return migrations.map(({ name, executedAt }) => ({ name, appliedAt: executedAt }));
}

/** Lists applied migrations that this version does not know, and the version that migrated last, if it recorded itself. */
async function readUnknown(
  db: Db,
  known: readonly MigrationState[],
): Promise<{ readonly names: readonly string[]; readonly version: string | undefined }> {
  const { rows: tables } = await sql<{ version: string | null }>`
    select obj_description(oid, 'pg_class') as version from pg_class where oid = to_regclass('kysely_migration')`.execute(
    db,
  );
  const [table] = tables;
  if (!table) return { names: [], version: undefined };
  const { rows } = await sql<{ name: string }>`
    select name from kysely_migration where name <> all(${known.map(({ name }) => name)}::text[]) order by name`.execute(
    db,
  );
  return { names: rows.map(({ name }) => name), version: table.version ?? undefined };
}

/**
 * Lists the migrations that this version still has to apply.
 * @throws UserError if a newer version has migrated the database: this version must neither use nor migrate it
 */
export async function pendingMigrations(db: Db): Promise<string[]> {
  const states = await migrationStates(db);
  const { names, version } = await readUnknown(db, states);
  if (names.length > 0)
    throw new UserError(
      `The database was migrated by a newer version, ${version ?? 'Parley'} (up to ${names.at(-1)}). This is Parley ${VERSION} (up to ${states.at(-1)?.name}): nothing was changed. Run the newer version. Migrations are not undone: to go back, restore a backup from before the upgrade.`,
    );
  return states.filter(({ appliedAt }) => appliedAt === undefined).map(({ name }) => name);
}

/**
 * Applies pending migrations in one transaction: if a file fails, the database stays unchanged.
 * @returns the names that were applied
 * @throws UserError with the failing file and the database's message, or the newer version that migrated the database
 */
export async function migrate(db: Db): Promise<string[]> {
  await pendingMigrations(db);
  const { error, results = [] } = await migrator(db).migrateToLatest();
  if (error) {
    const failed = results.find(result => result.status === 'Error');
    const reason = error instanceof Error ? error.message : String(error);
    throw new UserError(
      `${failed ? `Migration ${failed.migrationName} failed` : 'The migrations were not applied'}, nothing was changed: ${reason}`,
      { cause: error },
    );
  }
  // Used in the error message of an older version that opens this database.
  if (results.length > 0) await sql`comment on table kysely_migration is ${sql.lit(`Parley ${VERSION}`)}`.execute(db);
  return results.map(result => result.migrationName);
}
