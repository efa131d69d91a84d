import { afterEach, beforeEach, expect, test } from 'vitest';
import { createDatabase, type Database } from '../../src/database/database.ts';
import { createPostgresTransport } from '../../src/database/postgres-signals.ts';
import { createLog } from '../../src/platform/log.ts';
import { createSignals } from '../../src/platform/signals.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
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
