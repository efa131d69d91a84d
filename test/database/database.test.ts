import { sql } from 'kysely';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createDatabase, type Db } from '../../src/database/database.ts';
import { createLog } from '../../src/platform/log.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.drop());

const SETTINGS = sql`select current_setting('TimeZone') as zone, current_setting('jit') as jit, current_setting('work_mem') as memory,
  current_setting('default_transaction_isolation') as isolation, current_setting('enable_seqscan') as scans, current_setting('search_path') as path`;

test.each([
  ['without options', '', '4MB'],
  [
    'with options of its own',
    String.raw`-c work_mem=7MB -c TimeZone=Asia/Tokyo -c jit=on -c default_transaction_isolation=repeatable\ read -c search_path=other,public`,
    '7MB',
  ],
])(
  'sessions of an address %s have the settings on which times and the event log depend',
  async (_name, given, memory) => {
    const address = new URL(database.url);
    if (given !== '') address.searchParams.set('options', given);
    const db = createDatabase({ url: address.href, poolSize: 1, readers: 1, log: createLog('silent') });
    try {
      const of = async (on: Db) => (await SETTINGS.execute(on)).rows[0];
      const path = given === '' ? '"$user", public' : 'other,public';
      const session = { zone: 'UTC', jit: 'off', isolation: 'read committed', scans: 'on', memory, path };
      expect(await of(db.write)).toEqual(session);
      expect(await of(db.read)).toEqual(session);
      expect(await of(db.leases)).toEqual({ ...session, scans: 'off' });
      const connection = await db.connect();
      const { rows } = await connection.query(SETTINGS.compile(db.write).sql);
      await connection.end();
      expect(rows[0]).toEqual(session);
    } finally {
      await db.close();
    }
  },
);
