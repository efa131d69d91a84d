import { Command } from 'commander';
import { loadConfig } from '../config.ts';
import { createDatabase } from '../platform/database.ts';
import { migrateJobs } from '../platform/jobs.ts';
import { createLog } from '../platform/log.ts';
import { migrate, migrationStates } from '../platform/migrations.ts';
import { print, withDatabase } from './database.ts';

/** Brings a database to this version: our tables, and those of the job queue. @returns the names of what was applied */
export async function migrateDatabase(url: string): Promise<string[]> {
  const db = createDatabase({ url, poolSize: 2, readers: 1, log: createLog('silent') });
  try {
    const applied = await migrate(db.write);
    await migrateJobs(url);
    return applied;
  } finally {
    await db.close();
  }
}

export function migrateCommand(): Command {
  return new Command('migrate')
    .description('bring the database to this version; two at once are safe')
    .option('--status', 'only show what is applied and what is missing', false)
    .action(async ({ status }: { status: boolean }) => {
      await withDatabase(loadConfig(), async (db, url) => {
        if (status) {
          const states = await migrationStates(db.read);
          print(
            states.map(({ name, appliedAt }) => ({ migration: name, applied: appliedAt?.toISOString() ?? 'missing' })),
            false,
          );
          return;
        }
        const applied = await migrateDatabase(url);
        process.stdout.write(
          applied.length === 0 ? 'Nothing to do: the database is up to date.\n' : `Applied ${applied.join(', ')}.\n`,
        );
      });
    });
}
