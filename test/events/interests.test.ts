import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import type { EventType, NewEvent } from '../../src/core/events.ts';
import { append } from '../../src/events/append.ts';
import { createEventBus, type EventBus, type LoggedEvent, type Subscriber } from '../../src/events/bus.ts';
import { before, type Cursor } from '../../src/events/cursor.ts';
import { createHorizon } from '../../src/events/horizon.ts';
import { eventually, startGateway, type TestGateway } from '../support/gateway.ts';

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

/** Where the log ends now: after a transaction, so that it lies behind the place at which the tailer started. */
async function end(): Promise<Cursor> {
  await gateway.database.query('select pg_current_xact_id()');
  return before((await gateway.gateway.resources.horizon.advance()).place);
}

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
  const { db, horizon, signals, metrics, log } = gateway.gateway.resources;
  let listening: Subscriber | undefined;
  // Its payloads were left where they are: at that moment nobody wanted them.
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
