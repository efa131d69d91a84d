import pg from 'pg';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import type { Config } from '../../src/config.ts';
import { type DatabaseProxy, startDatabaseProxy } from '../support/database-proxy.ts';
import { eventually, startGateway, type TestGateway } from '../support/gateway.ts';
import { type SecondGateway, startSecondGateway } from '../support/second-gateway.ts';
import { callsOf, closeCodeOf, expectUnavailable } from './apis.ts';

let gateway: TestGateway;
let line: DatabaseProxy;
let far: SecondGateway;
/** Verified by the process that loses its database. */
let known: string;
/** Never seen by that process. */
let unknown: string;

/** A busy machine may take seconds to connect. */
const DATABASE = { poolSize: 2, readers: 1, connectTimeoutMs: 5_000, idleMs: 1_000 };

beforeAll(async () => {
  gateway = await startGateway();
});
afterAll(() => gateway.stop());
beforeEach(async () => {
  line = await startDatabaseProxy(gateway.database.url);
  await startFar();
});
afterEach(async () => {
  line.mend();
  await far.stop();
  await line.stop();
});

async function startFar(database: Partial<Config['database']> = {}): Promise<void> {
  far = await eventually(() => startSecondGateway(gateway, line.databaseUrl, { ...DATABASE, ...database }));
  known = await gateway.addToken(gateway.tenant, {});
  unknown = await gateway.addToken(gateway.tenant, {});
  await eventually(async () =>
    expect((await far.graphql('{ contacts { totalCount } }', {}, known)).errors).toBeUndefined(),
  );
}

/** Holds locks, so that statements wait. */
async function hold(lock: string): Promise<() => Promise<unknown>> {
  const holder = new pg.Client({ connectionString: gateway.database.url });
  await holder.connect();
  onTestFinished(() => holder.end());
  await holder.query(`begin; ${lock}`);
  return () => holder.query('rollback');
}

const callsWith = (token: string) => callsOf(far.url, gateway.tenant, token);

async function statementsWaiting(): Promise<number | undefined> {
  const [row] = await gateway.database.query<{ waiting: number }>(
    "select count(*)::int as waiting from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'",
  );
  return row?.waiting;
}

async function expectAllUnavailable(): Promise<void> {
  for (const token of [known, unknown])
    await Promise.all(callsWith(token).map(async ({ name, send }) => expectUnavailable(name, await send())));
  expect(await closeCodeOf(far.url, unknown)).toBe(1013);
  const ready = await fetch(`${far.url}/readyz`);
  expect([ready.status, ready.headers.get('retry-after')]).toEqual([503, '1']);
  expect((await fetch(`${far.url}/healthz`)).status).toBe(200);
}

async function expectRecovery(): Promise<void> {
  await eventually(async () => {
    for (const token of [known, unknown])
      for (const { name, send } of callsWith(token)) {
        const response = await send();
        await response.body?.cancel();
        expect([name, response.status < 500]).toEqual([name, true]);
      }
    expect((await fetch(`${far.url}/readyz`)).status).toBe(200);
  });
}

test('a database that refuses connections: every interface answers 503 with Retry-After, and recovers', async () => {
  line.cut();
  await expectAllUnavailable();
  line.mend();
  await expectRecovery();
});

test('an unreachable database host that does not answer: 503, and recovery', async () => {
  await far.stop();
  await startFar({ statementTimeoutMs: 4_000 });
  line.stall();
  await expectAllUnavailable();
  line.mend();
  await expectRecovery();
});

test('a database that accepts no connections: every interface answers 503 with Retry-After, and recovers', async () => {
  const address = new URL(gateway.database.url);
  const name = address.pathname.slice(1);
  // PostgreSQL does not let a session close its own database.
  address.pathname = '/postgres';
  const admin = new pg.Client({ connectionString: address.href });
  await admin.connect();
  onTestFinished(() => admin.end());
  await admin.query(`alter database ${name} allow_connections false`);
  try {
    await admin.query(
      "select pg_terminate_backend(pid) from pg_stat_activity where datname = $1 and application_name like 'parley%'",
      [name],
    );
    await expectAllUnavailable();
  } finally {
    await admin.query(`alter database ${name} allow_connections true`);
  }
  await expectRecovery();
});

test('connections cut during a statement: 503, and recovery', async () => {
  const release = await hold('lock table groups, contacts');
  const calls = callsWith(known).filter(({ name }) => /a query|a mutation|a list|a creation/.test(name));
  const answers = calls.map(async ({ name, send }) => ({ name, response: await send() }));
  await eventually(async () => expect(await statementsWaiting()).toBeGreaterThanOrEqual(2));
  line.cut();
  for (const { name, response } of await Promise.all(answers)) await expectUnavailable(name, response);
  await release();
  line.mend();
  await expectRecovery();
});

describe('a partially available database', () => {
  test('an exhausted write pool: writes answer 503, reads continue', async () => {
    const release = await hold('lock table groups in share mode');
    const calls = callsWith(known);
    const creation = calls.find(({ name }) => name === 'REST v2, a creation');
    const waiting = Array.from({ length: DATABASE.poolSize }, () => creation?.send());
    await eventually(async () => expect(await statementsWaiting()).toBe(DATABASE.poolSize));
    const refused = await creation?.send();
    if (refused) await expectUnavailable('REST v2, a creation', refused);
    expect((await calls.find(({ name }) => name === 'REST v2, a list')?.send())?.status).toBe(200);
    await release();
    for (const response of await Promise.all(waiting)) expect(response?.status).toBeLessThan(500);
    await expectRecovery();
  });

  test('a full disk: writes answer 503 and store nothing, reads continue, the process is not ready, and it recovers', async () => {
    const { query } = gateway.database;
    // What PostgreSQL says when a file cannot grow (ENOSPC).
    await query(`create function disk_full() returns trigger language plpgsql as $$
      begin raise exception 'could not extend file' using errcode = 'disk_full'; end $$`);
    const tables = `select c.oid::regclass::text as name from pg_class c
      where c.relkind in ('r', 'p') and not c.relispartition and c.relnamespace = 'public'::regnamespace`;
    const fill = async (names: readonly string[]) => {
      for (const name of names)
        await query(
          `create trigger disk_full before insert or update on ${name} for each statement execute function disk_full()`,
        );
    };
    const groups = () => query<{ name: string }>("select name from groups where name in ('Lost', 'Half')");
    const before = await groups();
    const half = { query: 'mutation { createContactGroup(input: { name: "Half" }) { contactGroup { id } } }' };
    try {
      // The group is stored, its event is not.
      await fill(['events']);
      const headers = { authorization: `Bearer ${known}`, 'content-type': 'application/json' };
      const refused = await fetch(`${far.url}/graphql`, { method: 'POST', headers, body: JSON.stringify(half) });
      await expectUnavailable('GraphQL, a mutation', refused);
      expect(await groups()).toEqual(before);
      const names = (await query<{ name: string }>(tables)).map(({ name }) => name).filter(name => name !== 'events');
      await fill(names);
      for (const { name, writes, send } of callsWith(known)) {
        const response = await send();
        if (writes) await expectUnavailable(name, response);
        else expect([name, response.status < 500]).toEqual([name, true]);
      }
      await eventually(async () => expect((await fetch(`${far.url}/readyz`)).status).toBe(503));
      expect(await groups()).toEqual(before);
    } finally {
      await query('drop function disk_full cascade');
    }
    await expectRecovery();
  });

  test('a read-only database: writes answer 503, reads continue, and the process is not ready', async () => {
    const name = new URL(gateway.database.url).pathname.slice(1);
    const cutOthers = () =>
      gateway.database.query(
        "select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and application_name like 'parley%'",
      );
    await gateway.database.query(`alter database ${name} set default_transaction_read_only = on`);
    await cutOthers();
    try {
      await eventually(async () => {
        for (const { name: call, writes, send } of callsWith(known)) {
          const response = await send();
          if (writes) await expectUnavailable(call, response);
          else expect([call, response.status < 500]).toEqual([call, true]);
        }
      });
      await eventually(async () => expect((await fetch(`${far.url}/readyz`)).status).toBe(503));
    } finally {
      await gateway.database.query('set default_transaction_read_only = off');
      await gateway.database.query(`alter database ${name} reset default_transaction_read_only`);
      await cutOthers();
    }
    await expectRecovery();
  });
});
