import { Command } from 'commander';
import { type Config, loadConfig } from '../config.ts';
import { createDatabase } from '../database/database.ts';
import { migrate, migrationStates, pendingMigrations } from '../database/migrations.ts';
import { setRoleSettings } from '../database/session-settings.ts';
import { type ScopeFinding, takeScopeFindings } from '../features/tenancy/tokens/tokens.sql.ts';
import { createLog } from '../platform/log.ts';
import { withDatabase } from './database.ts';
import { interruptible } from './interrupted.ts';
import { print } from './print.ts';
import { createProgress } from './progress.ts';

/**
 * Migrates a database to this version.
 * @param settings with PgBouncer, the server is migrated directly and its role gets the session settings
 * @returns the names of the applied migrations
 */
export async function migrateDatabase(
  url: string,
  { pgbouncer, database }: Partial<Pick<Config, 'pgbouncer' | 'database'>> = {},
): Promise<string[]> {
  const direct = pgbouncer?.directUrl ?? url;
  const db = createDatabase({ url: direct, poolSize: 2, readers: 1, statementTimeoutMs: 0, log: createLog('silent') });
  const progress = createProgress('Migrating', { unit: 'migrations' });
  try {
    const applied = await migrate(db.write, progress.set);
    if (pgbouncer && database) await setRoleSettings(db.write, database.statementTimeoutMs);
    return applied;
  } finally {
    progress.end();
    await db.close();
  }
}

export function migrateCommand(): Command {
  return new Command('migrate')
    .description('migrate the database to this version; safe to run concurrently')
    .option('--status', 'only list applied and pending migrations', false)
    .option('--verbose', 'print the name of each applied migration', false)
    .option('--json', 'print JSON', false)
    .action(async ({ status, verbose, json }: { status: boolean; verbose: boolean; json: boolean }) => {
      const config = loadConfig();
      await withDatabase(config, async (db, url) => {
        if (status) {
          const states = await migrationStates(db.read);
          print(
            states.map(({ name, appliedAt }) => ({ migration: name, applied: appliedAt?.toISOString() ?? 'missing' })),
            json,
          );
          // Throws if a newer version has migrated the database.
          await pendingMigrations(db.read);
          return;
        }
        const applied = await interruptible(
          () =>
            'the migrations are one transaction, so that nothing has changed unless it was just complete. Run `parley migrate` again.',
          () => migrateDatabase(url, config),
        );
        const findings = await takeScopeFindings(db.write);
        if (json) return print([{ applied, scope_findings: findings }], true);
        if (verbose) for (const name of applied) process.stdout.write(`${name}\n`);
        process.stdout.write(summaryOf(applied));
        printScopeFindings(findings);
      });
    });
}

function summaryOf(applied: readonly string[]): string {
  const [first, ...others] = applied;
  if (first === undefined) return 'Nothing to do: the database is up to date.\n';
  const last = others.at(-1);
  return last === undefined ? `Applied ${first}.\n` : `Applied ${applied.length} migrations: ${first} to ${last}.\n`;
}

/** Lists objects from before the scopes of their creator were checked; shown once, by the first `migrate` after the upgrade. */
function printScopeFindings(findings: readonly ScopeFinding[]): void {
  if (findings.length === 0) return;
  process.stdout.write(
    '\nThese objects were created before the scopes of their creator were checked. They keep working; to change one, a token now needs these scopes.\n' +
      'Listed tokens could have created the object without these scopes: review those objects first. This list is shown once.\n\n',
  );
  print(
    findings.map(({ tenant, kind, object_id: id, name, scopes, tokens }) => ({
      tenant,
      kind,
      id,
      name,
      'needs scopes': scopes.join(' '),
      'tokens without them': tokens.join(', '),
    })),
    false,
  );
}
