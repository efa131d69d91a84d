import { readdir, readFile } from 'node:fs/promises';
import { sql } from 'kysely';
import { type Migration, Migrator } from 'kysely/migration';
import { UserError } from '../platform/user-error.ts';
import { VERSION } from '../platform/version.ts';
import type { Db } from './database.ts';
import { isDeadlock } from './violations.ts';

const DIRECTORY = new URL('../../migrations/', import.meta.url);

export interface MigrationState {
  readonly name: string;
  readonly appliedAt: Date | undefined;
}

/**
 * Numbered plain SQL files, forward only. Kysely's migrator takes an advisory lock, so concurrent runs are safe: the second finds
 * nothing to do.
 */
function migrator(db: Db, onApplied: () => void = () => undefined): Migrator {
  return new Migrator({
    db,
    provider: {
      async getMigrations() {
        const migrations: Record<string, Migration> = {};
        for (const name of await migrationNames()) {
          const text = await readFile(new URL(`${name}.sql`, DIRECTORY), 'utf8');
          const up: Migration['up'] = async trx => {
            await sql.raw(text).execute(trx);
            onApplied();
          };
          migrations[name] = { up };
        }
        return migrations;
      },
    },
  });
}

/** Lists the migrations of this version in order. */
async function migrationNames(): Promise<string[]> {
  const files = await readdir(DIRECTORY);
  return files.flatMap(file => (file.endsWith('.sql') ? [file.slice(0, -'.sql'.length)] : [])).sort();
}

/** Migration history of the database. */
interface History {
  /** When each was applied, in the order of their names. */
  readonly applied: ReadonlyMap<string, Date>;
  /** The version that migrated last, if it recorded itself. */
  readonly version: string | undefined;
}

/**
 * Reads the migrator's table. Its own `getMigrations` describes every table and column of the database first, which was the most
 * expensive statement of a start, and reads the text of every migration.
 */
async function readHistory(db: Db): Promise<History> {
  const { rows: tables } = await sql<{ version: string | null }>`
    select obj_description(oid, 'pg_class') as version from pg_class where oid = to_regclass('kysely_migration')`.execute(
    db,
  );
  const [table] = tables;
  if (!table) return { applied: new Map(), version: undefined };
  const { rows } = await sql<{ name: string; timestamp: string }>`
    select name, timestamp from kysely_migration order by name`.execute(db);
  return {
    applied: new Map(rows.map(({ name, timestamp }) => [name, new Date(timestamp)])),
    version: table.version ?? undefined,
  };
}

/** Lists the migrations of this version, with the time they were applied. Writes nothing. */
export async function migrationStates(db: Db): Promise<MigrationState[]> {
  const { applied } = await readHistory(db);
  return (await migrationNames()).map(name => ({ name, appliedAt: applied.get(name) }));
}

/**
 * Lists the migrations that this version still has to apply.
 * @throws UserError if a newer version has migrated the database: this version must neither use nor migrate it
 */
export async function pendingMigrations(db: Db): Promise<string[]> {
  const known = await migrationNames();
  const { applied, version } = await readHistory(db);
  const unknown = [...applied.keys()].filter(name => !known.includes(name));
  if (unknown.length > 0)
    throw new UserError(
      `The database was migrated by a newer version, ${version ?? 'Parley'} (up to ${unknown.at(-1)}). This is Parley ${VERSION} (up to ${known.at(-1)}): nothing was changed. Run the newer version. Migrations are not undone: to go back, restore a backup from before the upgrade.`,
    );
  return known.filter(name => !applied.has(name));
}

/**
 * Applies pending migrations in one transaction: if a file fails, the database stays unchanged.
 * @param onApplied called after each file, in the transaction
 * @returns the names that were applied
 * @throws UserError with the failing file and the database's message, or the newer version that migrated the database
 */
export async function migrate(
  db: Db,
  onApplied: (done: number, total: number) => void = () => undefined,
): Promise<string[]> {
  const { length: total } = await pendingMigrations(db);
  let done = 0;
  const count = (): void => {
    done += 1;
    onApplied(done, total);
  };
  const { error, results = [] } = await migrator(db, count).migrateToLatest();
  if (error) {
    const failed = results.find(result => result.status === 'Error');
    const reason = error instanceof Error ? error.message : String(error);
    // Migrations lock tables in another order than the statements of running processes.
    const advice = isDeadlock(error) ? '. Stop all processes on this database, and repeat it' : '';
    throw new UserError(
      `${failed ? `Migration ${failed.migrationName} failed` : 'The migrations were not applied'}, nothing was changed: ${reason}${advice}`,
      { cause: error },
    );
  }
  // Used in the error message of an older version that opens this database.
  if (results.length > 0) await sql`comment on table kysely_migration is ${sql.lit(`Parley ${VERSION}`)}`.execute(db);
  return results.map(result => result.migrationName);
}
