import { Kysely, PostgresAdapter, PostgresDialect, PostgresIntrospector, PostgresQueryCompiler } from 'kysely';
import pg from 'pg';
import type { Log } from '../platform/log.ts';
import { createReaders } from './readers.ts';
import { NamedClient, type NamedClientConfig, StatementNames, type StatementObserver } from './statements.ts';
import type { DB } from './tables.generated.ts';

/** Row types of all tables, read from a migrated database: `npm run codegen`. */
export type Schema = DB;

/** The readers, the pool or a transaction. */
export type Db = Kysely<Schema>;

export interface Database {
  /** Short reads over a few shared, pipelined connections. No transactions, no session state. */
  readonly read: Db;
  /** Writes and transactions over a pool. */
  readonly write: Db;
  /** Connections for leases: renewals must not wait behind the work that they protect. */
  readonly leases: Db;
  /** Runs `work` in one transaction (read committed). */
  transaction<T>(work: (trx: Db) => Promise<T>): Promise<T>;
  /** Opens a dedicated connection, for LISTEN and the like; the caller ends it. */
  connect(): Promise<pg.Client>;
  close(): Promise<void>;
}

export interface DatabaseOptions {
  readonly url: string;
  /** Set if the URL is that of PgBouncer in transaction mode. Statements that need a session use `directUrl`. */
  readonly pgbouncer?: { readonly directUrl: string } | undefined;
  /** Maximum number of connections for writes and transactions. */
  readonly poolSize: number;
  /** Maximum number of connections for reads. */
  readonly readers: number;
  /** Connections for leases, default 2; opened when lanes are drained. */
  readonly leaseConnections?: number;
  /** Timeout for opening a connection, or for a free one of the pool. */
  readonly connectTimeoutMs?: number;
  /** Timeout of a statement, and of an idle transaction; 0 (for migrations): none. */
  readonly statementTimeoutMs?: number;
  /** Idle connections are closed after this. */
  readonly idleMs?: number;
  readonly log: Log;
  /** Called with the text of every statement; tests count statements and check the tenant predicate. */
  readonly onStatement?: StatementObserver;
}

const STATEMENT_TIMEOUT_MS = 15_000;
const CONNECT_TIMEOUT_MS = 5_000;
const IDLE_MS = 30_000;
/** A server ends statements at their timeout; after this multiple of it without data, the connection counts as broken. */
const SILENCE_FACTOR = 4 / 3;
/** TCP keep-alive delay, so that a connection whose peer is gone does not stay in the pool. */
const KEEP_ALIVE_MS = 10_000;

/**
 * Settings of each session. TimeZone: timestamps are printed in UTC. jit: compiling costs more than our short statements run. Isolation:
 * the horizon of the event log is correct only with READ COMMITTED writers, whatever the server's default is. Two timeouts that an
 * administrator may have set: a lock that is not granted in time would be an unexpected error, and connections that listen or hold session
 * locks are idle most of the time. Behind PgBouncer they are set on the role: database/session-settings.ts.
 */
export const SESSION_SETTINGS = {
  TimeZone: 'UTC',
  jit: 'off',
  default_transaction_isolation: 'read committed',
  lock_timeout: '0',
  idle_session_timeout: '0',
} as const;

/** All settings of a session. pg leaves out a timeout of 0, which has to override that of the role or the database, too. */
export const sessionSettings = (statementTimeoutMs: number) => ({
  ...SESSION_SETTINGS,
  statement_timeout: String(statementTimeoutMs),
  idle_in_transaction_session_timeout: String(statementTimeoutMs),
});

/** Statements on leases always use indexes: queues fill faster than the planner's statistics follow. */
const LEASE_SETTINGS = {
  // Shorter than a lease, so that a renewal that hangs is retried in time.
  statement_timeout: '5s',
  plan_cache_mode: 'force_generic_plan',
  enable_seqscan: 'off',
  enable_hashjoin: 'off',
  enable_mergejoin: 'off',
};

/** Follows their statement timeout. */
const LEASE_SILENCE_LIMIT_MS = 6_000;

/** `int8[]`, which the list of pg-types leaves out, though it has a parser for it. */
const INT8_ARRAY: number = 1016;
const parseInt8Array: (text: string) => (string | null)[] = pg.types.getTypeParser(INT8_ARRAY, 'text');

/**
 * Parses int8, also in arrays, as a number (ids stay below 2^53) and timestamps as ISO 8601 text: rows then have the same shape whether they
 * come from a table, from JSON built by the database, or from an event's payload, and no Date is created only to be formatted.
 */
export const typeParsers: pg.CustomTypesConfig = {
  getTypeParser: ((oid: number, format?: 'text' | 'binary') => {
    if (format !== 'binary') {
      if (oid === pg.types.builtins.INT8) return Number;
      if (oid === INT8_ARRAY) return (text: string) => parseInt8Array(text).map(value => value && Number(value));
      if (oid === pg.types.builtins.TIMESTAMPTZ) return isoTimestamp;
    }
    return format === 'binary' ? pg.types.getTypeParser(oid, 'binary') : pg.types.getTypeParser(oid, 'text');
  }) as typeof pg.types.getTypeParser,
};

/**
 * Converts `2026-11-21 07:58:39.12+00`, or the form with `T` and `+00:00` in JSON, to `2026-11-21T07:58:39.120Z`;
 * sessions run in UTC. Special values such as `infinity` are returned unchanged.
 */
export function isoTimestamp(text: string): string {
  const zone = text.endsWith('+00:00') ? 6 : text.endsWith('+00') ? 3 : 0;
  if (zone === 0 || text[4] !== '-') return text;
  const instant = text.slice(0, -zone);
  // Columns have millisecond precision: nine in ten values need no padding.
  const milliseconds =
    instant.length === 23 ? instant : `${instant.slice(0, 19)}.${instant.slice(20, 23).padEnd(3, '0')}`;
  return milliseconds[10] === 'T' ? `${milliseconds}Z` : `${milliseconds.slice(0, 10)}T${milliseconds.slice(11)}Z`;
}

/**
 * Adds settings of its sessions to an address. pg sends either the `options` of the address or ours, so they are joined; ours come
 * last, because the last value of a setting applies.
 */
function withSettings(
  url: string,
  settings: Readonly<Record<string, string>>,
): { readonly connectionString: string; readonly options: string } {
  const ours = Object.entries(settings)
    .map(([name, value]) => `-c ${name}=${value.replaceAll(' ', '\\ ')}`)
    .join(' ');
  const address = URL.canParse(url) ? new URL(url) : undefined;
  const given = address?.searchParams.get('options');
  if (!address || !given) return { connectionString: url, options: ours };
  address.searchParams.delete('options');
  return { connectionString: address.href, options: `${given} ${ours}` };
}

export function createDatabase(options: DatabaseOptions): Database {
  const {
    connectTimeoutMs = CONNECT_TIMEOUT_MS,
    statementTimeoutMs = STATEMENT_TIMEOUT_MS,
    idleMs = IDLE_MS,
    log,
  } = options;
  const shared = {
    application_name: 'parley',
    types: typeParsers,
    connectionTimeoutMillis: connectTimeoutMs,
    keepAlive: true,
    keepAliveInitialDelayMillis: KEEP_ALIVE_MS,
    silenceLimitMs: statementTimeoutMs * SILENCE_FACTOR,
    onStatement: options.onStatement,
  };
  const directUrl = options.pgbouncer?.directUrl ?? options.url;
  const settings = sessionSettings(statementTimeoutMs);
  /** Connections to PostgreSQL itself, which have a session. */
  const direct = {
    ...shared,
    ...withSettings(directUrl, settings),
    names: new StatementNames(),
  } satisfies NamedClientConfig;
  // PgBouncer refuses start-up parameters that it does not know, and before version 1.21 it knows no prepared statements.
  const config = options.pgbouncer
    ? ({ ...shared, connectionString: options.url } satisfies NamedClientConfig)
    : direct;

  // pg passes the pool's configuration to the client it is given; its types know only a client without arguments.
  const Client = NamedClient as unknown as new () => pg.ClientBase;
  const createPool = (settings: pg.PoolConfig): pg.Pool => {
    const pool = new pg.Pool({ Client, idleTimeoutMillis: idleMs, ...settings });
    pool.on('error', error => log.warn({ err: error }, 'an idle database connection was lost'));
    // The pool handles errors of idle connections only; without a listener, an error of one in use would end the process.
    pool.on('connect', client => client.on('error', () => undefined));
    return pool;
  };
  const pool = createPool({ ...config, max: options.poolSize });
  // Planner settings need a session, so leases bypass PgBouncer.
  const leaseConfig = {
    ...direct,
    ...withSettings(directUrl, { ...settings, ...LEASE_SETTINGS }),
    silenceLimitMs: LEASE_SILENCE_LIMIT_MS,
  } satisfies NamedClientConfig;
  const leasePool = createPool({ ...leaseConfig, max: options.leaseConnections ?? 2 });
  const readers = createReaders(config, { size: options.readers, idleMs, log });
  const write = new Kysely<Schema>({ dialect: new PostgresDialect({ pool }) });
  const leases = new Kysely<Schema>({ dialect: new PostgresDialect({ pool: leasePool }) });
  const read = new Kysely<Schema>({
    dialect: {
      createAdapter: () => new PostgresAdapter(),
      createDriver: () => readers,
      createIntrospector: db => new PostgresIntrospector(db),
      createQueryCompiler: () => new PostgresQueryCompiler(),
    },
  });

  return {
    read,
    write,
    leases,
    transaction: work => write.transaction().execute(work),
    async connect() {
      // Not observed: the statements of signals and session locks belong to no request.
      const client = new NamedClient({ ...direct, onStatement: undefined });
      // Added before connecting: a server that shuts down may report that together with readiness. Without a listener that error
      // would end the process. Users of the connection add their own.
      client.on('error', () => undefined);
      await client.connect();
      return client;
    },
    async close() {
      await Promise.all([write.destroy(), leases.destroy(), read.destroy()]);
    },
  };
}
