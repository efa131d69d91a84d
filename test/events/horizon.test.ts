import pg from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createDatabase, type Database } from '../../src/database/database.ts';
import { type Cursor, isAfter, positionBefore } from '../../src/events/cursor.ts';
import { createHorizon } from '../../src/events/horizon.ts';
import { readAll } from '../../src/events/log.sql.ts';
import { createLog } from '../../src/platform/log.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { eventually } from '../support/gateway.ts';

/** A reader below the horizon misses no event and reads none out of order, whatever transactions are open. */

const WRITERS = 8;
const ROUNDS = 60;

let database: TestDatabase;
let foreign: TestDatabase;
let db: Database;
const clients = new Set<pg.Client>();
beforeAll(async () => {
  [database, foreign] = await Promise.all([createTestDatabase(), createTestDatabase()]);
  db = createDatabase({ url: database.url, poolSize: 2, readers: 2, log: createLog('silent') });
  await database.query('create table bystander (n int); create table tricks (n int)');
  await database.query(
    `create function write_event(name text) returns void language plpgsql as $$
     begin
       insert into tricks values (1);
       perform 1 from tricks;
       insert into events (tenant_id, id, type, payload)
       values (1, gen_random_uuid(), 'group.created', jsonb_build_object('name', name));
     end $$`,
  );
  await foreign.query('create table bystander (n int)');
});
afterAll(async () => {
  await Promise.all([...clients].map(client => client.end()));
  await db.close();
  await Promise.all([database.drop(), foreign.drop()]);
});

async function connect({ url }: TestDatabase): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: url, application_name: 'horizon test' });
  await client.connect();
  clients.add(client);
  return client;
}

/** Leaves a transaction with an id open. */
async function leaveOpen(at: TestDatabase): Promise<pg.Client> {
  const client = await connect(at);
  await client.query('begin; insert into bystander values (1)');
  return client;
}

const INSERT = `insert into events (tenant_id, id, type, payload) values (1, gen_random_uuid(), 'group.created', jsonb_build_object('name', $1::text))`;

const pause = (ms: number): Promise<void> => new Promise(resolve => setTimeout(resolve, ms));

/** One way to write events. @returns the names of those that were committed */
type Way = (client: pg.Client, name: string) => Promise<string[]>;
const WAYS: readonly Way[] = [
  async (client, name) => {
    await client.query(INSERT, [name]);
    return [name];
  },
  async (client, name) => {
    await client.query('select write_event($1)', [name]);
    return [name];
  },
  async (client, name) => {
    await client.query('begin');
    await client.query(INSERT, [`${name} first`]);
    await pause(Math.random() * 5);
    await client.query('savepoint s');
    await client.query(INSERT, [`${name} undone`]);
    await client.query('rollback to s');
    await client.query('savepoint s');
    await client.query(INSERT, [`${name} second`]);
    await client.query('commit');
    return [`${name} first`, `${name} second`];
  },
  // Starts early and writes late.
  async (client, name) => {
    await client.query('begin; insert into tricks values (2)');
    await pause(Math.random() * 10);
    await client.query(INSERT, [name]);
    await client.query('commit');
    return [name];
  },
  async (client, name) => {
    await client.query('begin');
    await client.query(INSERT, [`${name} undone`]);
    await client.query('rollback');
    return [];
  },
];
const inTwoPhases: Way = async (client, name) => {
  await client.query('begin');
  await client.query(INSERT, [name]);
  await client.query(`prepare transaction '${name}'`);
  await pause(Math.random() * 10);
  await client.query(`commit prepared '${name}'`);
  return [name];
};

/** Repeatedly reads the log to its end. */
async function readWhile(goesOn: () => boolean, start: Cursor): Promise<{ names: string[]; positions: Cursor[] }> {
  const horizon = createHorizon(db.read, createLog('silent'));
  const names: string[] = [];
  const positions: Cursor[] = [];
  let cursor = start;
  for (let last = false; ; ) {
    last = !goesOn();
    const { position } = await horizon.advance();
    for (;;) {
      const rows = await readAll(db.read, cursor, position, 50, { tenants: [1], types: ['group.created'] });
      for (const row of rows) {
        cursor = { xid: BigInt(row.xid), seq: row.seq };
        positions.push(cursor);
        names.push(String(row.payload?.['name']));
      }
      if (rows.length < 50) break;
    }
    if (last) return { names, positions };
    await pause(1);
  }
}

test('8 concurrent writers (functions, savepoints, rollbacks, two-phase commits) while other transactions stay open: no event is missed or read out of order', async () => {
  const bystanders = [await leaveOpen(foreign), await leaveOpen(database)];
  // The embedded server allows prepared transactions; most managed services do not.
  const [{ room } = { room: 0 }] = await database.query<{ room: number }>(
    `select current_setting('max_prepared_transactions')::int as room`,
  );
  const ways = room > 0 ? [...WAYS, inTwoPhases] : WAYS;
  const elsewhere = await leaveOpen(foreign);
  if (room > 0) await elsewhere.query(`prepare transaction 'elsewhere'`);
  const start = positionBefore((await createHorizon(db.read, createLog('silent')).advance()).position);
  let writing = true;
  let written = 0;
  const committed: string[] = [];
  const writers = Array.from({ length: WRITERS }, async (_, writer) => {
    const client = await connect(database);
    for (let round = 0; round < ROUNDS; round += 1) {
      const way = ways[(writer + round) % ways.length] as Way;
      committed.push(...(await way(client, `w${writer}r${round}`)));
      written += 1;
    }
  });
  const slow = (async () => {
    const client = await connect(database);
    await client.query('begin');
    await client.query(INSERT, ['slow first']);
    while (written < (WRITERS * ROUNDS) / 2) await pause(5);
    await client.query(INSERT, ['slow second']);
    await client.query('commit');
    committed.push('slow first', 'slow second');
  })();
  const readers = Array.from({ length: 2 }, () => readWhile(() => writing, start));
  await Promise.all([...writers, slow]);
  // The readers reach the end of the log although the other transactions are still open.
  await pause(150);
  writing = false;
  for (const { names, positions } of await Promise.all(readers)) {
    expect([...names].sort()).toEqual([...committed].sort());
    const sorted = positions.toSorted((a, b) => (a.xid === b.xid ? a.seq - b.seq : a.xid < b.xid ? -1 : 1));
    expect(positions).toEqual(sorted);
  }
  const [old] = await database.query<{ is_held: boolean }>(
    'select count(*) > 0 as is_held from events where xid >= pg_snapshot_xmin(pg_current_snapshot())',
  );
  expect(old?.is_held, 'the oldest transaction of the cluster is no bound that moves').toBe(true);
  for (const client of bystanders) await client.query('rollback');
  await elsewhere.query(room > 0 ? `rollback prepared 'elsewhere'` : 'rollback');
});

test('a database role without privileges reads past open transactions of other roles', async () => {
  const role = `plain_${process.pid}`;
  await database.query(`create role ${role} login password 'plain'`);
  await database.query(`grant select on events, log_readers to ${role}; grant usage on sequence events_seq to ${role}`);
  const address = new URL(database.url);
  address.username = role;
  address.password = 'plain';
  const plain = createDatabase({ url: address.href, poolSize: 1, readers: 1, log: createLog('silent') });
  const open = [await leaveOpen(foreign), await leaveOpen(database)];
  try {
    const horizon = createHorizon(plain.read, createLog('silent'));
    const writer = await connect(database);
    await writer.query(INSERT, ['seen by all']);
    await eventually(async () => {
      const { position } = await horizon.advance();
      const rows = await readAll(plain.read, { xid: 0n, seq: 0 }, position, 10_000, { tenants: [], types: [] });
      const [last] = await database.query<{ id: string }>('select id from events order by seq desc limit 1');
      expect(rows.at(-1)?.id).toBe(last?.id);
    });
  } finally {
    for (const client of open) await client.query('rollback');
    await plain.close();
    await database.query(`drop owned by ${role}`);
    await database.query(`drop role ${role}`);
  }
});

test('an open transaction that has written to the log holds the horizon back, and the warning names its process', async () => {
  const logs: Record<string, unknown>[] = [];
  const log = createLog('info', { write: line => void logs.push(JSON.parse(line)) });
  const horizon = createHorizon(db.read, log, { warnAfterMs: 0 });
  const client = await connect(database);
  await client.query('begin');
  await client.query(INSERT, ['held']);
  const [{ pid } = {}] = (await client.query<{ pid: number }>('select pg_backend_pid() as pid')).rows;
  await (await connect(database)).query(INSERT, ['after the open one']);
  const names = async (): Promise<unknown[]> => {
    const { position } = await horizon.advance();
    const rows = await readAll(db.read, { xid: 0n, seq: 0 }, position, 10_000, {
      tenants: [1],
      types: ['group.created'],
    });
    return rows.map(row => row.payload?.['name']);
  };
  await eventually(async () => {
    expect(await names()).not.toContain('after the open one');
    expect(horizon.writer?.owner).toMatchObject({ pid, application: 'horizon test' });
  });
  expect(logs).toContainEqual(
    expect.objectContaining({ pid, application: 'horizon test', state: 'idle in transaction', openSeconds: 0 }),
  );
  await client.query('commit');
  await eventually(async () => expect((await names()).slice(-2)).toEqual(['held', 'after the open one']));
  expect(horizon.writer).toBeUndefined();
});

test('concurrent marks that return out of order are not mistaken for a restored database', async () => {
  const writer = await connect(database);
  let release = (): void => undefined;
  const held = new Promise<void>(resolve => {
    release = resolve;
  });
  let isFirst = true;
  const slow = db.read.withPlugin({
    transformQuery: ({ node }) => node,
    async transformResult({ result }) {
      if (isFirst) {
        isFirst = false;
        await held;
      }
      return result;
    },
  });
  const horizon = createHorizon(slow, createLog('silent'));
  let isRolledBack = 0;
  horizon.onRolledBack = () => {
    isRolledBack += 1;
  };
  const earlier = horizon.advance();
  await eventually(() => expect(isFirst).toBe(false));
  await writer.query(INSERT, ['between']);
  const { position } = await horizon.advance();
  release();
  await earlier;
  // It may advance: a transaction of autovacuum that held the second mark back may have ended.
  expect([isAfter(position, horizon.position), isRolledBack]).toEqual([false, 0]);
});

test('when the horizon is quiet, all events up to its sequence number are below it', async () => {
  const client = await connect(database);
  const horizon = createHorizon(db.read, createLog('silent'));
  const written: Cursor[] = [];
  const quiet: { readonly seq: number; readonly position: Cursor }[] = [];
  let isWriting = true;
  const writing = (async () => {
    for (let index = 0; index < 300; index += 1) {
      await client.query('begin');
      const { rows } = await client.query(`${INSERT} returning xid::text, seq::float8`, ['quiet']);
      written.push({ xid: BigInt(rows[0].xid), seq: rows[0].seq });
      await pause(Math.random() * 5);
      await client.query('commit');
      await pause(Math.random() * 5);
    }
  })().finally(() => {
    isWriting = false;
  });
  while (isWriting) {
    const { isComplete, seq, position } = await horizon.advance();
    if (isComplete) quiet.push({ seq, position });
  }
  await writing;
  expect(quiet.length).toBeGreaterThan(0);
  const missed = quiet.filter(at => written.some(event => event.seq <= at.seq && !isAfter(at.position, event)));
  expect(missed).toEqual([]);
});
