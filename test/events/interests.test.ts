import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import type { EventType, NewEvent } from '../../src/core/events.ts';
import { append } from '../../src/events/append.ts';
import { createEventBus, type EventBus, type LoggedEvent, type Subscriber } from '../../src/events/bus.ts';
import { type Cursor, positionBefore } from '../../src/events/cursor.ts';
import { createHorizon } from '../../src/events/horizon.ts';
import { eventually, startGateway, type TestGateway } from '../support/gateway.ts';

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startGateway();
});
afterAll(() => gateway.stop());

/** A second tailer without subscribers. */
let bus: EventBus;
let read: Set<EventType>;
beforeEach(async () => {
  const { db, signals, metrics, log } = gateway.gateway.resources;
  read = new Set();
  bus = createEventBus(db, createHorizon(db.read, log), signals, metrics, log);
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

/** The current end of the log, after a further transaction, so that it is past the start of the tailer. */
async function end(): Promise<Cursor> {
  await gateway.database.query('select pg_current_xact_id()');
  return positionBefore((await gateway.gateway.resources.horizon.advance()).position);
}

const nameOf = (event: LoggedEvent | undefined): unknown =>
  (event?.payload['group'] as { name: string } | undefined)?.name;

async function next(subscriber: Subscriber): Promise<unknown> {
  const { value } = await subscriber[Symbol.asyncIterator]().next();
  return nameOf(value);
}

test('events without a subscriber are not replayed from memory, and since() refers the caller to the log', async () => {
  const position = await end();
  await write(group('alone'));
  await eventually(() => expect(read).toContain('group.created'));
  expect(bus.since(gateway.tenant.id, GROUPS, position)).toBeUndefined();
  // No event of these types is missing from the buffer.
  expect(bus.since(gateway.tenant.id, { types: new Set(['contact.created']) }, position)).toEqual([]);
  expect(bus.since(gateway.tenant.id + 1, GROUPS, position)).toEqual([]);
});

test('the replay buffer keeps no payloads of event types that no subscriber of the tenant selected', async () => {
  const position = await end();
  const listening = bus.subscribe(gateway.tenant.id, GROUPS);
  await write(group('wanted'), group('not wanted', 'group.deleted'));
  expect(await next(listening)).toBe('wanted');
  expect(bus.since(gateway.tenant.id, GROUPS, position)?.map(nameOf)).toEqual(['wanted']);
  expect(bus.since(gateway.tenant.id, { types: new Set(['group.deleted']) }, position)).toBeUndefined();
  listening.close();
});

test('a subscriber that reconnects soon gets missed events from the replay buffer', async () => {
  const position = await end();
  bus.subscribe(gateway.tenant.id, GROUPS).close();
  await write(group('missed'));
  await eventually(() => expect(read).toContain('group.created'));
  expect(bus.since(gateway.tenant.id, GROUPS, position)?.map(nameOf)).toEqual(['missed']);
});

test('a subscriber that joins during a read gets events with payloads', async () => {
  const { db, horizon, signals, metrics, log } = gateway.gateway.resources;
  let listening: Subscriber | undefined;
  // The read fetches no payloads, because there was no subscriber when it started.
  const read = db.read.withPlugin({
    transformQuery: ({ node }) => node,
    async transformResult({ result }) {
      if (result.rows.some(row => row['type'] === 'group.created')) listening ??= late.subscribe(tenant.id, GROUPS);
      return result;
    },
  });
  const tenant = await gateway.addTenant();
  const late = createEventBus({ ...db, read }, horizon, signals, metrics, log);
  await late.start();
  await db.transaction(trx => append(trx, tenant.id, [group('just now')]));
  signals.send('events');
  await eventually(() => expect(listening).toBeDefined());
  expect(listening && (await next(listening))).toBe('just now');
  listening?.close();
  await late.stop();
});
