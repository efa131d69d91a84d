import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { migrateDatabase } from '../../src/cli/migrate.ts';
import { type EmbeddedPostgres, startEmbeddedPostgres } from '../../src/platform/embedded/postgres.ts';
import { createLog } from '../../src/platform/log.ts';
import { printProgress } from './output.ts';

/** A migrated database of our own, which is gone afterwards. */
export interface Fixture {
  readonly url: string;
  /** For logs and the like; gone afterwards as well. */
  readonly directory: string;
  /** A bystander's connections, past all code of ours. */
  readonly pool: pg.Pool;
  /** As in `server_version_num`. */
  readonly version: number;
  leave(): Promise<void>;
}

/**
 * Creates a database on the server of DATABASE_URL, or on an embedded one that writes as durably as a production server.
 * Existing rows are never changed: the database has a unique name, and is dropped at the end.
 */
export async function createFixture(): Promise<Fixture> {
  const given = process.env['DATABASE_URL'];
  const directory = await mkdtemp(join(tmpdir(), 'parley-bench-'));
  // Accessible to the user as which root runs PostgreSQL; otherwise the data would be stored in /var/lib/parley and not be removed.
  await chmod(directory, 0o711);
  const embedded = given ? undefined : await startObserved(join(directory, 'database'));
  const serverUrl = given || (embedded?.url ?? '');
  const name = `parley_bench_${process.pid}`;
  await once(serverUrl, `create database ${name}`);
  const address = new URL(serverUrl);
  address.pathname = `/${name}`;
  await migrateDatabase(address.href);
  const pool = new pg.Pool({ connectionString: address.href, max: 3 });
  pool.on('error', () => undefined);
  const { rows } = await pool.query<{ version: string; number: number }>(
    `select current_setting('server_version') as version, current_setting('server_version_num')::int as number`,
  );
  printProgress(`PostgreSQL ${rows[0]?.version} (${given ? 'DATABASE_URL' : 'embedded'}), database ${name}`);
  return {
    url: address.href,
    directory,
    pool,
    version: rows[0]?.number ?? 0,
    async leave() {
      await pool.end();
      if (!embedded) await once(serverUrl, `drop database if exists ${name} with (force)`);
      await embedded?.stop();
      await rm(directory, { recursive: true, force: true });
    },
  };
}

/** An embedded server that counts statements: the library has to be there when the server starts, so it is started twice. */
async function startObserved(directory: string): Promise<EmbeddedPostgres> {
  const options = { directory, durable: true, log: createLog('silent'), maxConnections: 200 };
  const first = await startEmbeddedPostgres(options);
  await once(first.url, `alter system set shared_preload_libraries = 'pg_stat_statements'`);
  await first.stop();
  return startEmbeddedPostgres(options);
}

async function once(url: string, statement: string): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    await client.query(statement);
  } finally {
    await client.end();
  }
}
