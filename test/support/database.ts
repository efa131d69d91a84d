import { createHash, randomBytes } from 'node:crypto';
import pg from 'pg';
import { inject } from 'vitest';
import { createDatabase, type Database, type DatabaseOptions } from '../../src/database/database.ts';
import { createLog } from '../../src/platform/log.ts';

export interface TestDatabase {
  readonly url: string;
  /** Runs a statement on a connection of its own, which uses no code of the product. */
  query<Row extends pg.QueryResultRow>(text: string, values?: unknown[]): Promise<Row[]>;
  drop(): Promise<void>;
}

/** Shorter than the timeout of a test: a statement that hangs fails first and names the cause, and the end of the test does not wait for it. */
const TIMEOUTS = { connectionTimeoutMillis: 60_000, lock_timeout: 60_000, statement_timeout: 120_000 };

/** Name of the prepared statement, so that the server plans it once, however often `eventually` repeats it. */
const nameOf = (text: string): string => createHash('sha1').update(text).digest('base64url');

/** One connection of a worker to the server, for all databases of its files. A pool, because a file may create several at once. */
const administrators = new Map<string, pg.Pool>();

function administratorOf(serverUrl: string): pg.Pool {
  const open = administrators.get(serverUrl);
  if (open) return open;
  const pool = new pg.Pool({ connectionString: serverUrl, max: 1, idleTimeoutMillis: 0 });
  // The next database gets another connection; a statement in progress fails by itself.
  pool.on('error', () => undefined);
  administrators.set(serverUrl, pool);
  return pool;
}

/** A separate database, cloned from the migrated template in some tens of milliseconds. */
export async function createTestDatabase(): Promise<TestDatabase> {
  const serverUrl = inject('serverUrl');
  const name = `parley_test_${process.pid}_${randomBytes(4).toString('hex')}`;
  // Copying its files takes half as long as writing its pages to the write-ahead log.
  await administratorOf(serverUrl).query(
    `create database ${name} template ${inject('templateName')} strategy file_copy`,
  );
  const address = new URL(serverUrl);
  address.pathname = `/${name}`;
  // jit is off, as in the connections of the product: with it, each statement over all partitions took 0.3 s to compile.
  const pool = new pg.Pool({ connectionString: address.href, max: 2, options: '-c jit=off', ...TIMEOUTS });
  // Dropping the database at the end of a test terminates its connections, which is not a failure.
  pool.on('error', () => undefined);
  return {
    url: address.href,
    query: async <Row extends pg.QueryResultRow>(text: string, values: unknown[] = []) =>
      (await pool.query<Row>({ text, values, ...(values.length > 0 && { name: nameOf(text) }) })).rows,
    async drop() {
      await pool.end();
      await administratorOf(serverUrl).query(`drop database if exists ${name} with (force)`);
    },
  };
}

/** A test database with the connections of a process to it, by default one of each kind; `close` closes them and drops the database. */
export async function openTestDatabase(
  options: Partial<DatabaseOptions> = {},
): Promise<{ readonly database: TestDatabase; readonly db: Database; close(): Promise<void> }> {
  const database = await createTestDatabase();
  const db = createDatabase({ url: database.url, poolSize: 1, readers: 1, log: createLog('silent'), ...options });
  return {
    database,
    db,
    async close() {
      await db.close();
      await database.drop();
    },
  };
}
