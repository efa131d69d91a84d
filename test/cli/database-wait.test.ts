import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { type DatabaseProxy, startDatabaseProxy } from '../support/database-proxy.ts';
import { holdLock } from '../support/lock.ts';
import { Program } from './program.ts';

let database: TestDatabase;
let line: DatabaseProxy;
let directory: string;
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'parley-wait-'));
  database = await createTestDatabase();
  line = await startDatabaseProxy(database.url);
});
afterAll(async () => {
  await line.stop();
  await database.drop();
  await rm(directory, { recursive: true, force: true });
});

const serve = (env: Record<string, string> = {}): Program =>
  new Program(directory, ['serve', '--migrate'], {
    PORT: '0',
    DATABASE_URL: line.databaseUrl,
    PARLEY_SECRET_KEY: Buffer.alloc(32, 7).toString('base64'),
    ...env,
  });

test('serve waits for a starting database, logs that, and starts once it is available', async () => {
  line.cut();
  const program = serve();
  await program.says('waiting for the database');
  line.mend();
  await program.says('"listening"');
  expect(await program.kill('SIGTERM')).toMatchObject({ code: 0 });
});

test('a signal ends the wait', async () => {
  line.cut();
  const program = serve();
  await program.says('waiting for the database');
  expect(await program.kill('SIGTERM')).toMatchObject({ code: 0, signal: null });
  line.mend();
});

test('a signal ends a start that waits for a lock of the database', async () => {
  const lock = await holdLock(database, 'lock table kysely_migration');
  const program = serve({ DATABASE_URL: database.url });
  await expect.poll(() => lock.waiting()).toHaveLength(1);
  // With the lock held, the start itself never ends.
  expect(await program.kill('SIGTERM')).toMatchObject({
    code: 1,
    output: expect.stringContaining('The stop exceeded its time limit'),
  });
  await lock.release();
});

test('if the database stays unavailable, the error has the reason and the variables to check', async () => {
  line.cut();
  const { code, output } = await serve({ PARLEY_DATABASE_WAIT_SECONDS: '1' }).finished;
  expect([code, output]).toEqual([1, expect.stringMatching(/PARLEY_DATABASE_WAIT_SECONDS.*DATABASE_URL/)]);
  expect(output).not.toMatch(/ {4}at /);
  line.mend();
});

test('serve does not wait for a database that does not exist', async () => {
  const url = new URL(database.url);
  url.pathname = '/nowhere_at_all';
  const { code, output } = await serve({ DATABASE_URL: url.href }).finished;
  expect([code, output]).toEqual([1, expect.stringMatching(/nowhere_at_all.*DATABASE_URL/)]);
  expect(output).not.toContain('waiting for the database');
});
