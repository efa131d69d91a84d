import pg from 'pg';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { append, type EventType, type NewEvent } from '../../../src/events.ts';
import { createEventBus, type EventBus, type LoggedEvent, type Subscriber } from '../../../src/features/events/bus.ts';
import type { Cursor } from '../../../src/features/events/cursor.ts';
import { currentEnd } from '../../../src/features/events/log-store.ts';
import { eventually, startGateway, type TestGateway } from '../../support/gateway.ts';

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startGateway();
});
afterAll(() => gateway.stop());

/** A tailer of its own, to which nobody listens yet. */
let bus: EventBus;
let read: Set<EventType>;
beforeEach(async () => {
  const { db, signals, metrics, log } = gateway.gateway.resources;
  read = new Set();
  bus = createEventBus(db, signals, metrics, log);
  bus.onRead(types => {
    for (const type of types) read.add(type);
  });
  await bus.start();
  return () => bus.stop();
});

const group = (name: string, type: 'group.created' | 'group.deleted' = 'group.created'): NewEvent => ({
  type,
  payload: {
    group: { id: 1, name, created_at: '2026-01-01T00:00:00.000Z', updated_at: '2026-01-01T00:00:00.000Z' } as never,
  },
});
const GROUPS = { types: new Set<EventType>(['group.created']) };

async function write(...events: NewEvent[]): Promise<void> {
  const { db, signals } = gateway.gateway.resources;
  await db.transaction(trx => append(trx, gateway.tenant.id, events));
  signals.send('events');
}

/** Where the log ends now. */
const end = (): Promise<Cursor> => currentEnd(gateway.gateway.resources.db.write);

const nameOf = (event: LoggedEvent | undefined): unknown =>
  (event?.payload['group'] as { name: string } | undefined)?.name;

async function next(subscriber: Subscriber): Promise<unknown> {
  const { value } = await subscriber[Symbol.asyncIterator]().next();
  return nameOf(value);
}

test('what nobody listened to is not told from memory: who asks for it is sent to the log', async () => {
  const place = await end();
  await write(group('alone'));
  await eventually(() => expect(read).toContain('group.created'));
  expect(bus.since(gateway.tenant.id, GROUPS, place)).toBeUndefined();
  // Nothing of what he wants was passed over: memory can tell.
  expect(bus.since(gateway.tenant.id, { types: new Set(['contact.created']) }, place)).toEqual([]);
  expect(bus.since(gateway.tenant.id + 1, GROUPS, place)).toEqual([]);
});

test('of a tenant to whom somebody listens, what he does not want is passed over', async () => {
  const place = await end();
  const listening = bus.subscribe(gateway.tenant.id, GROUPS);
  await write(group('wanted'), group('not wanted', 'group.deleted'));
  expect(await next(listening)).toBe('wanted');
  expect(bus.since(gateway.tenant.id, GROUPS, place)?.map(nameOf)).toEqual(['wanted']);
  expect(bus.since(gateway.tenant.id, { types: new Set(['group.deleted']) }, place)).toBeUndefined();
  listening.close();
});

test('who goes away and soon comes back is given what he has missed from memory', async () => {
  const place = await end();
  bus.subscribe(gateway.tenant.id, GROUPS).close();
  await write(group('missed'));
  await eventually(() => expect(read).toContain('group.created'));
  expect(bus.since(gateway.tenant.id, GROUPS, place)?.map(nameOf)).toEqual(['missed']);
});

test('who begins to listen while the log is being read is told whole events', async () => {
  const { database, tenant, gateway: running } = gateway;
  const locking = new pg.Client({ connectionString: database.url });
  await locking.connect();
  await locking.query('begin');
  await locking.query('lock table events in access exclusive mode');
  await eventually(async () => {
    // Both tailers wait in the middle of a read, with the question that they asked before.
    const waiting = await database.query<{ pid: number }>(
      `select pid from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock' and query like '%the tailer reads%'`,
    );
    expect(waiting.length).toBe(2);
  });
  const listening = bus.subscribe(tenant.id, GROUPS);
  await locking.query(
    `insert into events (tenant_id, id, type, payload) values ($1, gen_random_uuid(), 'group.created', '{"group":{"name":"just now"}}')`,
    [tenant.id],
  );
  await locking.query('commit');
  await locking.end();
  running.resources.signals.send('events');
  expect(await next(listening)).toBe('just now');
  listening.close();
});
