import { readdir, readFile } from 'node:fs/promises';
import { sql } from 'kysely';
import { type Migration, Migrator } from 'kysely/migration';
import type { Db } from './database.ts';
import { UserError } from './user-error.ts';

const DIRECTORY = new URL('../../migrations/', import.meta.url);

export interface MigrationState {
  readonly name: string;
  readonly appliedAt: Date | undefined;
}

/** Plain numbered SQL files, forward only. Kysely's migrator takes an advisory lock, so two runs at once are safe: the second finds nothing to do. */
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

/** Every migration of this version, with the time it was applied. Writes nothing. */
export async function migrationStates(db: Db): Promise<MigrationState[]> {
  const migrations = await migrator(db).getMigrations();
  return migrations.map(({ name, executedAt }) => ({ name, appliedAt: executedAt }));
}

/**
 * Applies what is missing, all in one transaction: a failing file leaves the database as it was.
 * @returns the names that were applied
 * @throws UserError naming the file that failed and the database's message
 */
export async function migrate(db: Db): Promise<string[]> {
  const { error, results = [] } = await migrator(db).migrateToLatest();
  if (error) {
    const failed = results.find(result => result.status === 'Error');
    const reason = error instanceof Error ? error.message : String(error);
    throw new UserError(`Migration ${failed?.migrationName ?? ''} failed, nothing was changed: ${reason}`, {
      cause: error,
    });
  }
  return results.map(result => result.migrationName);
}
