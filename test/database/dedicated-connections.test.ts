import { afterEach, beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { createDatabase, type Database } from '../../src/database/database.ts';
import { createPostgresTransport } from '../../src/database/postgres-signals.ts';
import { createSessionLocks } from '../../src/database/session-locks.ts';
import { createLog } from '../../src/platform/log.ts';
import { createSignals } from '../../src/platform/signals.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { startDatabaseProxy } from '../support/database-proxy.ts';
import { eventually } from '../support/gateway.ts';

/** Connections beside the pools. */

const log = createLog('silent');
let database: TestDatabase;
let db: Database;
beforeEach(async () => {
  database = await createTestDatabase();
  db = createDatabase({ url: database.url, poolSize: 1, readers: 1, log });
});
afterEach(async () => {
  await db.close();
  await database.drop();
});

const connections = async (): Promise<number> => {
  const [row] = await database.query<{ count: number }>(
    `select count(*)::int as count from pg_stat_activity where datname = current_database() and application_name = 'parley'`,
  );
  return row?.count ?? 0;
};

test('a server that refuses to listen, as a standby does, gets no more connections while signals try again', async () => {
  const attempts: string[] = [];
  const transport = createPostgresTransport(async () => {
    const client = await db.connect();
    const query = client.query.bind(client);
    client.query = ((text: string) => {
      attempts.push(text);
      // The answer of a standby.
      return query(
        `do $$ begin raise exception 'cannot execute LISTEN during recovery' using errcode = '25006'; end $$`,
      );
    }) as typeof client.query;
    return client;
  }, log);
  const signals = createSignals(transport);
  await eventually(() => expect(attempts.length).toBeGreaterThan(3));
  await eventually(async () => expect(await connections()).toBeLessThanOrEqual(1));
  await signals.close();
});

describe('when the server became unreachable and no connection was reset', () => {
  /** The connections of a process whose line to the server stalls. */
  async function startFar() {
    const line = await startDatabaseProxy(database.url);
    const far = createDatabase({ url: line.databaseUrl, poolSize: 1, readers: 1, statementTimeoutMs: 600, log });
    onTestFinished(async () => {
      line.mend();
      await far.close();
      await line.stop();
    });
    return { line, far };
  }

  test('session locks are held on a new connection', async () => {
    const { line, far } = await startFar();
    const locks = createSessionLocks(far.read, () => far.connect(), log);
    const others = createSessionLocks(db.read, () => db.connect(), log);
    await locks.hold('before');
    await eventually(async () => expect(await others.isHeld(['before'])).toBe(true));
    line.stall();
    await locks.hold('during');
    line.forward();
    await eventually(async () => expect(await others.isHeld(['during'])).toBe(true));
    await Promise.all([locks.close(), others.close()]);
  });

  test('signals are sent on a new connection', async () => {
    const { line, far } = await startFar();
    const one = createSignals(createPostgresTransport(() => far.connect(), log));
    const two = createSignals(createPostgresTransport(() => db.connect(), log));
    const heard: string[] = [];
    two.on('topic', topic => heard.push(topic));
    await eventually(() => {
      one.send('topic:before');
      expect(heard).toContain('topic:before');
    });
    line.stall();
    one.send('topic:lost');
    line.forward();
    await eventually(() => {
      one.send('topic:again');
      expect(heard).toContain('topic:again');
    });
    await Promise.all([one.close(), two.close()]);
  });
});
