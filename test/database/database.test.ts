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

test('sessions have none of the timeouts that an administrator has set for the database', async () => {
  const admin = ['lock_timeout', 'idle_session_timeout', 'statement_timeout', 'idle_in_transaction_session_timeout'];
  for (const name of admin)
    await database.query(
      `do $$ begin execute format('alter database %I set ${name} = %L', current_database(), '77ms'); end $$`,
    );
  const db = createDatabase({
    url: database.url,
    poolSize: 1,
    readers: 1,
    statementTimeoutMs: 9_000,
    log: createLog('silent'),
  });
  try {
    const settings = `select ${admin.map(name => `current_setting('${name}') as ${name}`).join(', ')}`;
    const ours = {
      lock_timeout: '0',
      idle_session_timeout: '0',
      statement_timeout: '9s',
      idle_in_transaction_session_timeout: '9s',
    };
    const of = async (on: Db) => (await sql.raw(settings).execute(on)).rows[0];
    expect(await of(db.write)).toEqual(ours);
    expect(await of(db.read)).toEqual(ours);
    expect(await of(db.leases)).toEqual({ ...ours, statement_timeout: '5s' });
    const connection = await db.connect();
    const { rows } = await connection.query(settings);
    await connection.end();
    expect(rows[0]).toEqual(ours);
  } finally {
    await db.close();
  }
});

test('sessions of migrations have no timeouts', async () => {
  const db = createDatabase({
    url: database.url,
    poolSize: 1,
    readers: 1,
    statementTimeoutMs: 0,
    log: createLog('silent'),
  });
  try {
    const { rows } = await sql`select current_setting('statement_timeout') as statement,
      current_setting('idle_in_transaction_session_timeout') as idle, current_setting('lock_timeout') as lock`.execute(
      db.write,
    );
    expect(rows[0]).toEqual({ statement: '0', idle: '0', lock: '0' });
  } finally {
    await db.close();
  }
});
