import { Kysely, PostgresAdapter, PostgresDialect, PostgresIntrospector, PostgresQueryCompiler, sql } from 'kysely';
import pg from 'pg';
import type { Log } from './log.ts';
import { createReaders } from './readers.ts';
import { NamedClient, type StatementObserver } from './statements.ts';

/** Row types by table name: each feature's store adds its own by declaration merging. */
// biome-ignore lint/suspicious/noEmptyInterface: filled by the features
export interface Tables {}

/** Anything a statement can be run on: the readers, the pool or a transaction. */
export type Db = Kysely<Tables>;

export interface Database {
  /** Short reads over a few shared, pipelined connections. No transactions, no session state. */
  readonly read: Db;
  /** Writes and transactions over a pool. */
  readonly write: Db;
  /** Runs `work` in one transaction (read committed). */
  transaction<T>(work: (trx: Db) => Promise<T>): Promise<T>;
  /** A connection of its own, for LISTEN and the like; the caller ends it. */
  connect(): Promise<pg.Client>;
  /** Resolves when the database answers; rejects after `timeoutMs`. */
  ping(timeoutMs: number): Promise<void>;
  close(): Promise<void>;
}

export interface DatabaseOptions {
  readonly url: string;
  readonly poolSize: number;
  readonly readers: number;
  readonly log: Log;
  /** Called with the text of every statement: tests count statements and look for the tenant's predicate. */
  readonly onStatement?: StatementObserver;
}

const STATEMENT_TIMEOUT_MS = 15_000;

/**
 * int8 comes as a number (ids stay below 2^53), timestamps as ISO 8601 text: rows then have the same shape whether they
 * come from a table, from JSON built by the database, or from an event's payload, and no Date is made only to be printed.
 */
export const typeParsers: pg.CustomTypesConfig = {
  getTypeParser: ((oid: number, format?: 'text' | 'binary') => {
    if (format !== 'binary') {
      if (oid === pg.types.builtins.INT8) return Number;
      if (oid === pg.types.builtins.TIMESTAMPTZ) return isoTimestamp;
    }
    return format === 'binary' ? pg.types.getTypeParser(oid, 'binary') : pg.types.getTypeParser(oid, 'text');
  }) as typeof pg.types.getTypeParser,
};

/**
 * `2026-11-21 07:58:39.12+00`, or with `T` and `+00:00` as JSON of the database has it, → `2026-11-21T07:58:39.120Z`;
 * sessions run in UTC. Infinity and the like stay as they are.
 */
export function isoTimestamp(text: string): string {
  const zone = text.endsWith('+00:00') ? 6 : text.endsWith('+00') ? 3 : 0;
  if (zone === 0 || text[4] !== '-') return text;
  const instant = text.slice(0, -zone);
  // Our columns have milliseconds, so that nine in ten need no padding.
  const milliseconds =
    instant.length === 23 ? instant : `${instant.slice(0, 19)}.${instant.slice(20, 23).padEnd(3, '0')}`;
  return milliseconds[10] === 'T' ? `${milliseconds}Z` : `${milliseconds.slice(0, 10)}T${milliseconds.slice(11)}Z`;
}

export function createDatabase(options: DatabaseOptions): Database {
  const config = {
    connectionString: options.url,
    application_name: 'parley',
    types: typeParsers,
    statement_timeout: STATEMENT_TIMEOUT_MS,
    idle_in_transaction_session_timeout: STATEMENT_TIMEOUT_MS,
    connectionTimeoutMillis: 10_000,
    keepAlive: true,
    // TimeZone: timestamps are printed in UTC. jit: compiling costs more than our short statements run.
    options: '-c TimeZone=UTC -c jit=off',
    onStatement: options.onStatement,
  } satisfies pg.ClientConfig & { onStatement: StatementObserver | undefined };

  // pg passes the pool's configuration to the client it is given; its types know only a client without arguments.
  const Client = NamedClient as unknown as new () => pg.ClientBase;
  const pool = new pg.Pool({ ...config, Client, max: options.poolSize });
  pool.on('error', error => options.log.warn({ err: error }, 'an idle database connection broke'));
  // The pool listens to idle connections alone. One that breaks between two statements of a transaction would end the process.
  pool.on('connect', client => client.on('error', () => undefined));
  const readers = createReaders(config, options.readers, options.log);

  const write = new Kysely<Tables>({ dialect: new PostgresDialect({ pool }) });
  const read = new Kysely<Tables>({
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
    transaction: work => write.transaction().execute(work),
    async connect() {
      const client = new pg.Client(config);
      // Before it connects: a server that goes away says so in the packet that makes the connection ready, when it likes, and
      // nobody would listen yet. Unheard, that ends the process. Whoever uses the connection listens for himself.
      client.on('error', () => undefined);
      await client.connect();
      return client;
    },
    async ping(timeoutMs) {
      await Promise.race([
        sql`select 1`.execute(write),
        new Promise((_, reject) =>
          setTimeout(() => reject(new Error('The database did not answer.')), timeoutMs).unref(),
        ),
      ]);
    },
    async close() {
      await Promise.all([write.destroy(), read.destroy()]);
    },
  };
}
