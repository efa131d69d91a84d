import pg from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { NewEvent } from '../../../src/core/events.ts';
import { append } from '../../../src/events/append.ts';
import { eventually, startGateway, type TestGateway } from '../../support/gateway.ts';
import { type Follower, follow, seen, stream } from './subscriber.ts';

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startGateway({ emulator: { faults: { webhookConnections: 1 } } });
});
afterAll(() => gateway.stop());

const group = (name: string): NewEvent => ({
  type: 'group.created',
  payload: {
    group: { id: 1, name, created_at: '2026-01-01T00:00:00.000Z', updated_at: '2026-01-01T00:00:00.000Z' } as never,
  },
});

/** Writes events as features do: each in a transaction of its own kind, some of them slow to commit. */
async function write(prefix: string, count: number, each = 1): Promise<void> {
  const { db, signals } = gateway.gateway.resources;
  for (let index = 0; index < count; index += 1) {
    await db.transaction(async trx => {
      const events = Array.from({ length: each }, (_, part) => group(`${prefix}${index * each + part}`));
      await append(trx, gateway.tenant.id, events);
      // Commits out of order: what began earlier ends later.
      if (index % 7 === 0) await new Promise(resolve => setTimeout(resolve, Math.random() * 15));
    });
    signals.send('events');
  }
}

async function logged(type = 'group.created'): Promise<string[]> {
  const rows = await gateway.database.query<{ id: string }>(
    'select id from events e where tenant_id = $1 and type = $2 order by e.xid, e.seq',
    [gateway.tenant.id, type],
  );
  return rows.map(row => row.id);
}

test('a client that reconnects twenty times while others write sees each of 10,000 events once and in order', async () => {
  const start = await follow(gateway.url, gateway.tenant.token, { types: ['group.*'] });
  await write('first ', 1);
  await seen(start, 1);
  await start.stop();
  let place = start.events[0]?.cursor;
  const ids = [start.events[0]?.id];
  const writing = Promise.all(['a', 'b', 'c', 'd'].map(name => write(name, 250, 10)));
  let done = false;
  void writing.then(() => {
    done = true;
  });
  let reconnects = 0;
  while (!done || reconnects < 20) {
    reconnects += 1;
    // Both ways of saying where: the cursor, and the id.
    const after = reconnects % 2 === 0 ? place : ids.at(-1);
    const follower = await follow(gateway.url, gateway.tenant.token, { types: ['group.*'], after });
    await new Promise(resolve => setTimeout(resolve, 20 + Math.random() * 80));
    // Cut, not closed: as a network fails.
    follower.socket().terminate();
    await follower.closed;
    expect(follower.errors).toEqual([]);
    ids.push(...follower.events.map(event => event.id));
    place = follower.events.at(-1)?.cursor ?? place;
  }
  await writing;
  const rest = await follow(gateway.url, gateway.tenant.token, { types: ['group.*'], after: place });
  await eventually(async () => expect(ids.length + rest.events.length).toBe((await logged()).length));
  ids.push(...rest.events.map(event => event.id));
  await rest.stop();
  expect(reconnects).toBeGreaterThanOrEqual(20);
  expect(ids).toEqual(await logged());
  expect(ids.length).toBe(10_001);
});

test('followers who never leave, over WebSocket and SSE, see the same events in the same order', async () => {
  const { tenant, url } = gateway;
  const socket = await follow(url, tenant.token, { types: ['group.created'] });
  const sse = await stream(url, tenant.token, { types: ['group.created'] });
  await new Promise(resolve => setTimeout(resolve, 50));
  const before = (await logged()).length;
  await Promise.all(['x', 'y', 'z'].map(name => write(name, 100)));
  await seen(socket, 300);
  await seen(sse, 300);
  const expected = (await logged()).slice(before);
  expect(socket.events.map(event => event.id)).toEqual(expected);
  expect(sse.events.map(event => event.id)).toEqual(expected);
  await socket.stop();
  sse.abort();
});

test('an event whose transaction commits long after later ones is neither skipped nor put out of order', async () => {
  const { database, tenant, url } = gateway;
  const live = await follow(url, tenant.token, { types: ['group.created'] });
  const slow = new pg.Client({ connectionString: database.url });
  await slow.connect();
  await slow.query('begin');
  const insert = `insert into events (tenant_id, id, type, payload) values ($1, gen_random_uuid(), 'group.created', '{"group":{"name":"early"}}')`;
  await slow.query(insert, [tenant.id]);
  await write('later ', 5);
  await new Promise(resolve => setTimeout(resolve, 300));
  // Nothing after the open transaction may be told yet, or a cursor would stand behind an event that is still to come.
  expect(live.events.map(name)).toEqual([]);
  const resumed = await follow(url, tenant.token, { types: ['group.created'], after: (await logged()).at(-6) });
  await slow.query('commit');
  await slow.end();
  await seen(live, 6);
  const expected = ['early', 'later 0', 'later 1', 'later 2', 'later 3', 'later 4'];
  expect(live.events.map(name)).toEqual(expected);
  await eventually(() => expect(resumed.events.map(name)).toEqual(expected));
  await live.stop();
  await resumed.stop();
});

test('an event whose transaction was rolled back is never told', async () => {
  const { database, tenant, url } = gateway;
  const live = await follow(url, tenant.token, { types: ['group.created'] });
  const undone = new pg.Client({ connectionString: database.url });
  await undone.connect();
  await undone.query('begin');
  await undone.query(
    `insert into events (tenant_id, id, type, payload) values ($1, gen_random_uuid(), 'group.created', '{"group":{"name":"undone"}}')`,
    [tenant.id],
  );
  await undone.query('rollback');
  await undone.end();
  await write('kept ', 1);
  await seen(live, 1);
  expect(live.events.map(name)).toEqual(['kept 0']);
  await live.stop();
});

test('what was committed before an event was written is told before it, also when the later writer began first', async () => {
  const { database, tenant, url } = gateway;
  const live = await follow(url, tenant.token, { types: ['group.created'] });
  const [early, late] = [
    new pg.Client({ connectionString: database.url }),
    new pg.Client({ connectionString: database.url }),
  ];
  await Promise.all([early.connect(), late.connect()]);
  const insert = (client: pg.Client, name: string) =>
    client.query(
      `insert into events (tenant_id, id, type, payload) values ($1, gen_random_uuid(), 'group.created', $2)`,
      [tenant.id, { group: { name } }],
    );
  // It has its number, and then waits for a lock that the other one holds.
  await early.query('begin');
  await early.query('select pg_current_xact_id()');
  await insert(late, 'cause');
  await insert(early, 'effect');
  await early.query('commit');
  await Promise.all([early.end(), late.end()]);
  // Also where nothing else is written any more: no event waits for the next one.
  await seen(live, 2);
  expect(live.events.map(name)).toEqual(['cause', 'effect']);
  await live.stop();
});

test('what became of a message is told in order: queued, sent, delivered, read; and the second half again after a reconnect', async () => {
  const { tenant, url } = gateway;
  const live = await follow(url, tenant.token, { types: ['message.*'] });
  const sent = await gateway.graphql(
    'mutation { sendMessage(input: { to: { phone: "+14155550199" }, content: { text: { body: "Hi" } } }) { message { databaseId } userErrors { code message path } } }',
  );
  const steps = ['message.queued', 'message.sent', 'message.delivered', 'message.read'];
  await seen(live, 4);
  expect(live.events.map(event => event.type)).toEqual(steps);
  expect(new Set(live.events.map(event => event.data.message?.id))).toEqual(
    new Set([sent.data.sendMessage.message.databaseId]),
  );
  const again = await follow(url, tenant.token, { types: ['message.*'], after: live.events[1]?.cursor });
  await seen(again, 2);
  expect(again.events.map(event => event.id)).toEqual(live.events.slice(2).map(event => event.id));
  await live.stop();
  await again.stop();
});

const name = (event: Follower['events'][number]): string | undefined => event.data.group?.name;
