import { rm } from 'node:fs/promises';
import { resolve } from 'node:path';
import pg from 'pg';
import type { TestProject } from 'vitest/node';
import { migrateDatabase } from '../../src/cli/migrate.ts';
import { startEmbeddedPostgres } from '../../src/platform/embedded/postgres.ts';
import { createLog } from '../../src/platform/log.ts';
import { makeFastDirectory } from './fast-directory.ts';

declare module 'vitest' {
  export interface ProvidedContext {
    /** The server on which test files clone their databases. */
    readonly serverUrl: string;
    /** The migrated database that they clone. */
    readonly templateName: string;
  }
}

/**
 * Node's compile cache, kept between runs: workers and the programs that tests start load in half the time. By default the program has
 * it in the home directory of its user, which no test may write to.
 */
const COMPILED = resolve('node_modules/.cache/compiled');

/**
 * One PostgreSQL for the whole run: embedded, or the one of PARLEY_TEST_DATABASE_URL. It gets a migrated template, which
 * every test file clones: a file owns its database.
 */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const given = process.env['PARLEY_TEST_DATABASE_URL'];
  const directory = await makeFastDirectory('parley-test-');
  process.env['NODE_COMPILE_CACHE'] = COMPILED;
  const embedded =
    given !== undefined
      ? undefined
      : await startEmbeddedPostgres({ directory, durable: false, log: createLog('silent'), maxConnections: 300 });
  const serverUrl = given ?? embedded?.url ?? '';
  // Two projects of one run share the process and, if PARLEY_TEST_DATABASE_URL is set, the server.
  const templateName = `parley_template_${process.pid}_${project.name}`;
  await admin(serverUrl, `create database ${templateName}`);
  await migrateDatabase(withDatabase(serverUrl, templateName));
  project.provide('serverUrl', serverUrl);
  project.provide('templateName', templateName);
  return async () => {
    if (!embedded) await admin(serverUrl, `drop database if exists ${templateName} with (force)`);
    await embedded?.stop();
    await rm(directory, { recursive: true, force: true, maxRetries: 10 });
  };
}

async function admin(url: string, statement: string): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    await client.query(statement);
  } finally {
    await client.end();
  }
}

function withDatabase(url: string, name: string): string {
  const address = new URL(url);
  address.pathname = `/${name}`;
  return address.href;
}
