import { createHash, randomBytes } from 'node:crypto';
import pg from 'pg';
import { inject } from 'vitest';

export interface TestDatabase {
  readonly url: string;
  /** Runs a statement as a bystander would, past all code of ours. */
  query<Row extends pg.QueryResultRow>(text: string, values?: unknown[]): Promise<Row[]>;
  drop(): Promise<void>;
}

/** Under a name the server plans a statement once, however often a test repeats it while it waits. */
const nameOf = (text: string): string => createHash('sha1').update(text).digest('base64url');

/** A separate database, cloned from the migrated template in some tens of milliseconds. */
export async function createTestDatabase(): Promise<TestDatabase> {
  const serverUrl = inject('serverUrl');
  const name = `parley_test_${process.pid}_${randomBytes(4).toString('hex')}`;
  const admin = new pg.Client({ connectionString: serverUrl });
  await admin.connect();
  // Copying its files takes half the time of writing its pages into the log.
  await admin.query(`create database ${name} template ${inject('templateName')} strategy file_copy`);
  const address = new URL(serverUrl);
  address.pathname = `/${name}`;
  const pool = new pg.Pool({ connectionString: address.href, max: 2 });
  // Dropping the database at the end of a test terminates its connections: that is no failure.
  pool.on('error', () => undefined);
  return {
    url: address.href,
    query: async <Row extends pg.QueryResultRow>(text: string, values: unknown[] = []) =>
      (await pool.query<Row>({ text, values, ...(values.length > 0 && { name: nameOf(text) }) })).rows,
    async drop() {
      await pool.end();
      await admin.query(`drop database if exists ${name} with (force)`);
      await admin.end();
    },
  };
}
