import { execFile } from 'node:child_process';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { migrateDatabase } from '../../src/cli/migrate.ts';
import { createDatabase, type Database } from '../../src/database/database.ts';
import { heldSince } from '../../src/database/outbox-hold.sql.ts';
import { createHorizon } from '../../src/events/horizon.ts';
import type { OriginFacts } from '../../src/events/origin.sql.ts';
import { adoptLog, restoredReason, watchOrigin } from '../../src/events/origin.ts';
import { restoreLog } from '../../src/events/restore.ts';
import { type EmbeddedPostgres, startEmbeddedPostgres } from '../../src/platform/embedded/postgres.ts';
import { createLog } from '../../src/platform/log.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { makeFastDirectory } from '../support/fast-directory.ts';
import { eventually } from '../support/gateway.ts';

/** A process starts only on the database that wrote the log, not on a copy or an older state of it. */

const log = createLog('silent');
const others = { renumberOthers: async () => undefined };
const open = (url: string): Database => createDatabase({ url, poolSize: 2, readers: 1, log });

const SAME: OriginFacts = {
  is_known: true,
  generation: 0,
  fault: null,
  is_original: true,
  is_same_database: true,
  is_same_system: true,
  is_same_version: true,
  is_same_timeline: true,
  has_future_positions: false,
  has_recovery_target: false,
  seen_at: '2027-01-01T00:00:00.000Z',
  may_stat_files: true,
};

describe('restoredReason', () => {
  test.each<[string, Partial<OriginFacts>, boolean, RegExp | undefined]>([
    ['the database itself', {}, false, undefined],
    ['a new database', { is_known: false, is_original: false, is_same_database: false }, false, undefined],
    ['a restored dump', { is_original: false }, false, /dump and restore/],
    ['a copy within the cluster', { is_same_database: false }, false, /copy of another database/],
    ['files in another cluster', { is_same_system: false }, false, /another PostgreSQL cluster/],
    ['positions of another cluster', { is_known: false, has_future_positions: true }, false, /has not reached/],
    ['a base backup', {}, true, /base backup/],
    ['a recovery to a point in time', { is_same_timeline: false, has_recovery_target: true }, false, /point in time/],
    ['a fault recorded by a running process', { fault: 'it went back' }, false, /went back/],
    ['a promoted replica', { is_same_timeline: false }, false, undefined],
    ['a promoted replica that was once recovered', { has_recovery_target: true }, false, undefined],
    ['an upgraded cluster', { is_same_system: false, is_same_version: false }, false, undefined],
  ])('%s', (_name, facts, isFromBackup, reason) => {
    const found = restoredReason({ ...SAME, ...facts }, isFromBackup);
    if (reason) expect(found).toMatch(reason);
    else expect(found).toBeUndefined();
  });
});

describe('within one cluster', () => {
  let database: TestDatabase;
  let db: Database;
  beforeAll(async () => {
    database = await createTestDatabase();
    db = open(database.url);
    expect(await adoptLog(db)).toBe(0);
  });
  afterAll(async () => {
    await db.close();
    await database.drop();
  });

  test('a process restarts on its own database, even after VACUUM FULL rewrote the table', async () => {
    await database.query('vacuum full freeze log_origin');
    expect(await adoptLog(db)).toBe(0);
  });

  test('a process starts even if its role may not read the system identifier', async () => {
    const role = `modest_${process.pid}`;
    await database.query(`create role ${role} login password 'modest'`);
    await database.query(
      `grant select, update on all tables in schema public to ${role}; revoke execute on function pg_control_system from public`,
    );
    const address = new URL(database.url);
    address.username = role;
    address.password = 'modest';
    const modest = open(address.href);
    expect(await adoptLog(modest)).toBe(0);
    await modest.close();
    await database.query(
      `grant execute on function pg_control_system to public; drop owned by ${role}; drop role ${role}`,
    );
    expect(await adoptLog(db)).toBe(0);
  });

  test('a restored copy is rejected until `restore-log` has run, which holds the outbox and starts a new cursor generation', async () => {
    await database.query(
      'create table saved as select * from log_origin; delete from log_origin; insert into log_origin select * from saved; drop table saved',
    );
    await expect(adoptLog(db)).rejects.toThrow(/dump and restore.*parley restore-log/);
    expect(await heldSince(db.read)).toBeUndefined();
    await restoreLog(db, others);
    expect(await heldSince(db.read)).toBeDefined();
    const generation = await adoptLog(db);
    expect(generation).toBeGreaterThan(0);
    await restoreLog(db, others);
    expect(await adoptLog(db)).not.toBe(generation);
  });
});

describe('with a separate cluster', () => {
  let directory: string;
  let server: EmbeddedPostgres;
  beforeAll(async () => {
    directory = await makeFastDirectory('parley-origin-');
    server = await start();
  });
  afterAll(async () => {
    await server?.stop();
    await rm(directory, { recursive: true, force: true });
  });
  const start = (): Promise<EmbeddedPostgres> =>
    startEmbeddedPostgres({ directory: join(directory, 'live'), durable: true, log });
  /** Preserves owners and modes, as backup tools do. */
  const copy = (from: string, to: string) =>
    promisify(execFile)('cp', ['-a', join(directory, from), join(directory, to)]);

  async function run(text: string): Promise<pg.QueryResult> {
    const client = new pg.Client({ connectionString: server.url });
    await client.connect();
    try {
      return await client.query(text);
    } finally {
      await client.end();
    }
  }

  test('a running process detects that the server was rolled back: it holds the outbox, and no further process starts', async () => {
    await migrateDatabase(server.url);
    const db = open(server.url);
    await adoptLog(db);
    await server.stop();
    await copy('live', 'backup');
    server = await start();
    await run('create table later (n int)');
    for (let index = 0; index < 20; index += 1) await run('insert into later values (1)');
    const horizon = createHorizon(db.read, log);
    const stop = watchOrigin(db, horizon, log);
    await eventually(() => horizon.advance());

    await server.stop();
    await rm(join(directory, 'live'), { recursive: true });
    await copy('backup', 'live');
    server = await start();
    await eventually(() => expect(horizon.advance()).rejects.toThrow('older state'));
    await eventually(async () => expect(await heldSince(db.read)).toBeDefined());
    await stop();
    await expect(adoptLog(db)).rejects.toThrow(/older state.*parley restore-log/);
    await restoreLog(db, others);
    expect(await adoptLog(db)).toBeGreaterThan(0);
    await db.close();
  });
});
