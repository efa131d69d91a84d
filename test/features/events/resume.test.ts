import pg from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { eventually, startGateway, type TestGateway } from '../../support/gateway.ts';
import { type Follower, follow, seen, stream } from './subscriber.ts';
import { logged, write } from './writing.ts';

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startGateway({ emulator: { faults: { webhookConnections: 1 } } });
});
afterAll(() => gateway.stop());

test('followers who never leave, over WebSocket and SSE, see the same events in the same order', async () => {
  const { tenant, url } = gateway;
  const socket = await follow(url, tenant.token, { types: ['group.created'] });
  const sse = await stream(url, tenant.token, { types: ['group.created'] });
  await new Promise(resolve => setTimeout(resolve, 50));
  const before = (await logged(gateway)).length;
  await Promise.all(['x', 'y', 'z'].map(name => write(gateway, name, 100)));
  await seen(socket, 300);
  await seen(sse, 300);
  const expected = (await logged(gateway)).slice(before);
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
  await write(gateway, 'later ', 5);
  await new Promise(resolve => setTimeout(resolve, 300));
  // Nothing after the open transaction may be told yet, or a cursor would stand behind an event that is still to come.
  expect(live.events.map(name)).toEqual([]);
  const resumed = await follow(url, tenant.token, { types: ['group.created'], after: (await logged(gateway)).at(-6) });
  await slow.query('commit');
  await slow.end();
  await seen(live, 6);
  const expected = ['early', 'later 0', 'later 1', 'later 2', 'later 3', 'later 4'];
  expect(live.events.map(name)).toEqual(expected);
  await eventually(() => expect(resumed.events.map(name)).toEqual(expected));
  await live.stop();
  await resumed.stop();
});

test('an event whose transaction was rolled back is never delivered', async () => {
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
  await write(gateway, 'kept ', 1);
  await seen(live, 1);
  expect(live.events.map(name)).toEqual(['kept 0']);
  await live.stop();
});

test('an event committed before another was written is delivered before it, also if the later writer began first', async () => {
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

test('the statuses of a message arrive in order: queued, sent, delivered, read; and the second half again after a reconnect', async () => {
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
