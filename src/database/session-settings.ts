import { sql } from 'kysely';
import { UserError } from '../platform/user-error.ts';
import { type Db, SESSION_SETTINGS, sessionSettings } from './database.ts';

/**
 * Sets session settings on the role, in this database, for connections through PgBouncer in transaction mode, which passes no options. A
 * role may do this for itself.
 */
export async function setRoleSettings(db: Db, statementTimeoutMs: number): Promise<void> {
  const { name: databaseName } = await db
    .selectNoFrom(eb => eb.fn<string>('current_database').as('name'))
    .executeTakeFirstOrThrow();
  for (const [name, value] of Object.entries(sessionSettings(statementTimeoutMs)))
    await sql`alter role current_user in database ${sql.id(databaseName)} set ${sql.id(name)} = ${sql.lit(value)}`.execute(
      db,
    );
}

/** @throws UserError if sessions lack settings that the role must provide */
export async function checkSession(db: Db): Promise<void> {
  for (const [name, value] of Object.entries({ ...SESSION_SETTINGS, statement_timeout: undefined })) {
    const { setting } = await db
      .selectNoFrom(eb => eb.fn<string>('current_setting', [eb.val(name)]).as('setting'))
      .executeTakeFirstOrThrow();
    if (value === undefined ? setting !== '0' : setting === value) continue;
    throw new UserError(
      `Sessions through PgBouncer have ${name} = ${setting}${value === undefined ? '' : `, not ${value}`}. Run \`parley migrate\` with PARLEY_PGBOUNCER=true, which sets it for the role, then RECONNECT in the console of PgBouncer.`,
    );
  }
}
