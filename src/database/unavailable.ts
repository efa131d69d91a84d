/**
 * SQLSTATEs that mean "the server cannot do this now", whatever the statement:
 * - 08xxx: the connection failed or is gone; PgBouncer reports its own errors as 08P01.
 * - 25006: the server is read-only, such as a former primary after a failover.
 * - 25P03, 25P04: the session was ended because its transaction was idle or took too long.
 * - 28xxx, 3D000: credentials, `pg_hba.conf` or the database changed under a running process.
 * - 53xxx: no disk, memory, connection or other limited resource left.
 * - 57014: cancelled by the statement timeout or an operator.
 * - 57P01 to 57P05: shut down, crashed, starting, database dropped, session idle for too long.
 * - 58xxx: the server's files cannot be read or written.
 *
 * Left out on purpose: 40001 and 40P01 (a conflict of transactions), 55P03 (a row lock that a statement chose not to wait for),
 * 55006 (an object in use) and XXxxx (defects), which say nothing about the server's state.
 */
const SQLSTATE = /^(08\w{3}|25006|25P0[34]|28\w{3}|3D000|53\w{3}|57014|57P0\d|58\w{3})$/;

/**
 * The functions of PostgreSQL that check a connection before its first statement. They reject it with codes that mean something
 * else in a statement: 55000 (`allow_connections false`, a half-dropped database) and 42501 (no CONNECT privilege).
 * Not the severity FATAL, which the server translates into its own language.
 */
const CONNECTING = /^(InitPostgres|CheckMyDatabase)$/;

/** Errors of the operating system when a host is away, unreachable or unknown. */
const SYSTEM =
  /^(ECONNREFUSED|ECONNRESET|ECONNABORTED|ETIMEDOUT|EPIPE|ENOTFOUND|EAI_AGAIN|EHOSTUNREACH|EHOSTDOWN|ENETUNREACH|ENETDOWN|ENETRESET|EADDRNOTAVAIL)$/;

/** Errors without a code, from pg and pg-pool. */
const MESSAGE =
  /^(timeout exceeded when trying to connect|timeout expired|Query read timeout|Connection terminated|Client (has encountered a connection error|was closed))/;

/** Errors that waiting does not fix: wrong credentials, a missing database, no privilege to connect to it. */
const REJECTED = /^(28\w{3}|3D000|42501)$/;

const textOf = (error: unknown, field: 'code' | 'routine'): string => {
  const value = error instanceof Error ? (error as { code?: unknown; routine?: unknown })[field] : undefined;
  return typeof value === 'string' ? value : '';
};

const isWhileConnecting = (error: unknown): boolean => CONNECTING.test(textOf(error, 'routine'));

/** Whether the database is unavailable, so that the same call may succeed later. */
export function isUnavailable(error: unknown): boolean {
  if (error instanceof AggregateError) return error.errors.some(isUnavailable);
  if (!(error instanceof Error)) return false;
  const code = textOf(error, 'code');
  return isWhileConnecting(error) || SQLSTATE.test(code) || SYSTEM.test(code) || MESSAGE.test(error.message);
}

/** Whether a connection attempt failed because of wrong credentials or a missing database. */
export const isRejected = (error: unknown): boolean => REJECTED.test(textOf(error, 'code'));
