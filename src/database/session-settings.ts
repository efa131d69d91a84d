import { sql } from 'kysely';
import { UserError } from '../platform/user-error.ts';
import type { Db } from './database.ts';

/** Session settings that cannot be passed through PgBouncer: see `createDatabase`. */
const ROLE_SETTINGS = {
  TimeZone: 'UTC',
  jit: 'off',
  default_transaction_isolation: 'read committed',
} as const;

/**
 * Sets session settings on the role, in this database, for connections through PgBouncer in transaction mode. A role may do this
 * for itself.
 */
export async function setRoleSettings(db: Db, statementTimeoutMs: number): Promise<void> {
  const { rows } = await sql<{ name: string }>`select current_database() as name`.execute(db);
  const database = sql.id(rows[0]?.name ?? '');
  const settings = {
    ...ROLE_SETTINGS,
    statement_timeout: String(statementTimeoutMs),
    idle_in_transaction_session_timeout: String(statementTimeoutMs),
  };
  for (const [name, value] of Object.entries(settings))
    await sql`alter role current_user in database ${database} set ${sql.id(name)} = ${sql.lit(value)}`.execute(db);
}

/** @throws UserError if sessions lack settings that the role must provide */
export async function checkSession(db: Db): Promise<void> {
  for (const [name, value] of Object.entries({ ...ROLE_SETTINGS, statement_timeout: undefined })) {
    const { rows } = await sql<{ setting: string }>`select current_setting(${name}) as setting`.execute(db);
    const setting = rows[0]?.setting;
    if (value === undefined ? setting !== '0' : setting === value) continue;
    throw new UserError(
      `Sessions through PgBouncer have ${name} = ${setting}${value === undefined ? '' : `, not ${value}`}. Run \`parley migrate\` with PARLEY_PGBOUNCER=true, which sets it for the role, then RECONNECT in the console of PgBouncer.`,
    );
  }
}
