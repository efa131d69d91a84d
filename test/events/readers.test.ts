import { sql } from 'kysely';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { EVENT_TYPES } from '../../src/core/events.ts';
import { append } from '../../src/events/append.ts';
import { isInRange } from '../../src/events/log.sql.ts';
import { registerReader } from '../../src/events/readers.sql.ts';
import { type LogReader, runReader, startReaders } from '../../src/events/readers.ts';
import { retrySetAside } from '../../src/events/retry-set-aside.ts';
import { listSetAside, readReaderStatus } from '../../src/events/set-aside.sql.ts';
import type { Resources } from '../../src/schema/context.ts';
import { eventually, startGateway, type TestGateway } from '../support/gateway.ts';
import { pastEvents } from './past-events.ts';

/** A durable reader consumes every event exactly once, however many processes read, fail or stop. */
let gateway: TestGateway;
let resources: Resources;
beforeAll(async () => {
  gateway = await startGateway({ role: 'gateway' });
  ({ resources } = gateway.gateway);
  await gateway.database.query('create table taken (reader text, id uuid, name text)');
});
afterAll(() => gateway.stop());

/** Records consumed events in the given transaction. */
const reader = (
  name: string,
  before: () => Promise<void> | void = () => undefined,
  isNeeded: LogReader['isNeeded'] = async () => true,
): LogReader => ({
  name,
  types: new Set(EVENT_TYPES),
  pauseMs: 50,
  isNeeded,
  async consume(trx, range) {
    await before();
    const { rows } = await sql<{ id: string }>`
      /* cross-tenant: a test */
      insert into taken (reader, id, name)
      select ${name}, e.id, e.payload -> 'group' ->> 'name' from events e
      where ${isInRange(range)} and e.type = 'group.created' returning id`.execute(trx);
    return rows.length > 0 ? [{ queue: 'test', key: name }] : [];
  },
});

/** @param more keeps writing beyond `count` while true @returns the number of events written */
async function write(
  count: number,
  name: string,
  more: () => boolean = () => false,
  tenantId = gateway.tenant.id,
): Promise<number> {
  let index = 0;
  for (; index < count || more(); index += 1) {
    await resources.db.transaction(async trx => {
      await append(trx, tenantId, [
        { type: 'group.created', payload: { group: { id: 1, name: `${name}${index}` } as never } },
      ]);
      if (index % 9 === 0) await new Promise(resolve => setTimeout(resolve, Math.random() * 8));
    });
  }
  return index;
}

const taken = async (name: string): Promise<string[]> =>
  (
    await gateway.database.query<{ name: string }>('select name from taken where reader = $1 order by name', [name])
  ).map(row => row.name);

test('four processes with failing readers consume each event exactly once while others write', async () => {
  let calls = 0;
  const shaky = reader('shaky', () => {
    calls += 1;
    if (calls % 5 === 0) throw new Error('a process died');
  });
  await registerReader(resources.db.write, 'shaky', (await resources.horizon.advance()).position);
  // Delayed readers consume large ranges, so keep writing until some reads have failed.
  const names = ['a', 'b', 'c'];
  const writers = names.map(name => write(60, name, () => calls < 6));
  let done = false;
  const ended = Promise.all(writers).then(() => {
    done = true;
  });
  const signal = new AbortController().signal;
  const reading = Array.from({ length: 4 }, async () => {
    while (!done) {
      await runReader(resources, shaky, signal).catch(() => undefined);
      await new Promise(resolve => setTimeout(resolve, 2));
    }
  });
  await Promise.all([ended, ...reading]);
  const counts = await Promise.all(writers);
  const expected = names.flatMap((name, at) =>
    Array.from({ length: counts[at] ?? 0 }, (_, index) => `${name}${index}`),
  );
  await eventually(async () => {
    await runReader(resources, shaky, signal).catch(() => undefined);
    expect(await taken('shaky')).toHaveLength(expected.length);
  });
  expect(await taken('shaky')).toEqual(expected.sort());
  expect(calls).toBeGreaterThan(5);
});

test('a new reader starts at its registration, is woken by the bus instead of polling, and wakes lanes after its commit', async () => {
  const woken: string[] = [];
  await write(3, 'before ');
  await pastEvents(gateway);
  const watched = { ...resources, lanes: { wake: (queue: string, key: string) => void woken.push(`${queue}:${key}`) } };
  const { stop } = await startReaders(watched, [reader('live')]);
  await write(2, 'after ');
  resources.signals.send('events');
  await eventually(async () => expect(await taken('live')).toEqual(['after 0', 'after 1']));
  await eventually(() => expect(new Set(woken)).toEqual(new Set(['test:live'])));
  await stop();
  await write(1, 'late ');
  resources.signals.send('events');
  await new Promise(resolve => setTimeout(resolve, 100));
  expect(await taken('live')).toHaveLength(2);
});

test('a failing reader does not block other readers, and continues when it is woken', async () => {
  let fails = true;
  const failing = reader('failing', () => {
    if (fails) throw new Error('not now');
  });
  await pastEvents(gateway);
  const { wake, stop } = await startReaders(resources, [failing, reader('well')]);
  await write(2, 'both ');
  resources.signals.send('events');
  await eventually(async () => expect(await taken('well')).toHaveLength(2));
  await eventually(() =>
    expect(gateway.logs).toContainEqual(
      expect.objectContaining({ reader: 'failing', err: expect.objectContaining({ message: 'not now' }) }),
    ),
  );
  expect(await taken('failing')).toEqual([]);
  fails = false;
  wake();
  await eventually(async () => expect(await taken('failing')).toEqual(['both 0', 'both 1']));
  await stop();
});

test('a range that cannot be consumed at once is consumed in smaller ones, and whole ranges follow', async () => {
  const sizes: number[] = [];
  let most = 10;
  const slow: LogReader = {
    ...reader('slow'),
    async consume(trx, range) {
      const { rows } = await sql<{ count: number }>`
        /* cross-tenant: a test */
        select count(*)::int as count from events e where ${isInRange(range)}`.execute(trx);
      const count = rows[0]?.count ?? 0;
      sizes.push(count);
      if (count > most) throw new Error('canceling statement due to statement timeout');
      return reader('slow').consume(trx, range);
    },
  };
  await pastEvents(gateway);
  const { wake, stop } = await startReaders(
    { ...resources, bus: { ...resources.bus, onRead: () => () => undefined } },
    [slow],
  );
  await write(100, 'many ');
  await pastEvents(gateway);
  await eventually(async () => {
    wake();
    expect(await taken('slow')).toHaveLength(100);
  });
  expect(Math.max(...sizes)).toBeGreaterThan(10);
  most = 1_000;
  sizes.length = 0;
  await eventually(async () => {
    await write(30, 'more ');
    await pastEvents(gateway);
    wake();
    expect(Math.max(...sizes)).toBeGreaterThanOrEqual(30);
  });
  await stop();
});

test('a reader that is not needed skips to the horizon, and later gets all events from when it is needed again', async () => {
  const { signal } = new AbortController();
  const runs = (one: LogReader): Promise<number> => runReader(resources, one, signal);
  let isNeeded = false;
  /** Called when the reader has found out that it is not needed. */
  let meanwhile = async (): Promise<void> => undefined;
  const optional = reader('optional', undefined, async () => {
    const found = isNeeded;
    await meanwhile();
    return found;
  });
  await registerReader(resources.db.write, 'optional', (await resources.horizon.advance()).position);
  await write(2, 'skipped ');
  await pastEvents(gateway);
  const unneededMs = await runs(optional);
  expect(unneededMs).toBeGreaterThan(optional.pauseMs);
  isNeeded = true;
  await runs(optional);
  expect(await taken('optional')).toEqual([]);

  isNeeded = false;
  await write(1, 'skipped too ');
  await pastEvents(gateway);
  meanwhile = async () => {
    isNeeded = true;
    await write(2, 'of interest ');
    await pastEvents(gateway);
    meanwhile = async () => undefined;
  };
  await runs(optional);
  expect(await taken('optional')).toEqual([]);
  expect(await runs(optional)).toBe(optional.pauseMs);
  expect(await taken('optional')).toEqual(['of interest 0', 'of interest 1']);
});

test('a process that is behind the others does not move an unneeded reader back', async () => {
  await write(1, 'old ');
  await pastEvents(gateway);
  const { position } = resources.horizon;
  const behind = { ...resources, horizon: Object.create(resources.horizon, { position: { value: position } }) };
  let isNeeded = true;
  const shared = reader('shared', undefined, async () => isNeeded);
  await registerReader(resources.db.write, 'shared', position);
  await write(2, 'once ');
  await pastEvents(gateway);
  const { signal } = new AbortController();
  await runReader(resources, shared, signal);
  expect(await taken('shared')).toEqual(['once 0', 'once 1']);
  isNeeded = false;
  await runReader(behind, shared, signal);
  isNeeded = true;
  await runReader(resources, shared, signal);
  expect(await taken('shared')).toEqual(['once 0', 'once 1']);
});

test('an event that cannot be consumed is set aside, the others are consumed, and it is consumed by a retry', async () => {
  let isFixed = false;
  const strict: LogReader = {
    ...reader('strict'),
    async consume(trx, range) {
      // 22P02 for the event: invalid input syntax for type integer.
      if (!isFixed)
        await sql`
          /* cross-tenant: a test */
          select (e.payload -> 'group' ->> 'name')::integer from events e
          where ${isInRange(range)} and e.payload -> 'group' ->> 'name' = 'poison 0'`.execute(trx);
      return reader('strict').consume(trx, range);
    },
  };
  await pastEvents(gateway);
  const { stop } = await startReaders(resources, [strict], 20);
  await write(20, 'fine ');
  await write(1, 'poison ');
  await write(20, 'later ');
  resources.signals.send('events');
  await eventually(async () => expect(await taken('strict')).toHaveLength(40));
  expect(await taken('strict')).not.toContain('poison 0');
  const error = expect.stringContaining('invalid input syntax for type integer');
  const kept = { reader: 'strict', tenant_id: gateway.tenant.id, type: 'group.created', error };
  expect(await listSetAside(resources.db.read)).toMatchObject([kept]);
  expect(await readReaderStatus(resources.db.read)).toContainEqual({
    name: 'strict',
    lag_seconds: expect.any(Number),
    set_aside: 1,
  });
  const metrics = await (await fetch(`${gateway.url}/metrics`)).text();
  expect(metrics).toContain('parley_log_events_set_aside{reader="strict"} 1');
  expect(metrics).toMatch(/parley_log_reader_lag_seconds\{reader="strict"\} \d/);
  expect(gateway.logs).toContainEqual(
    expect.objectContaining({ level: 50, reader: 'strict', tenantId: gateway.tenant.id, eventId: expect.any(String) }),
  );

  expect(await retrySetAside(resources.db, [strict])).toMatchObject([{ reader: 'strict', outcome: 'failed', error }]);
  expect(await listSetAside(resources.db.read)).toHaveLength(1);
  isFixed = true;
  expect(await retrySetAside(resources.db, [strict])).toMatchObject([{ reader: 'strict', outcome: 'consumed' }]);
  expect(await listSetAside(resources.db.read)).toEqual([]);
  expect(await taken('strict')).toContain('poison 0');
  expect(await taken('strict')).toHaveLength(41);
  await stop();
});

/** Consumes like `reader`, except that a statement for an event that `isSlow` exceeds its timeout. */
const slowReader = (name: string, isSlow: (event: string) => boolean): LogReader => ({
  ...reader(name),
  async consume(trx, range) {
    const { rows } = await sql<{ name: string | null }>`
      /* cross-tenant: a test */
      select e.payload -> 'group' ->> 'name' as name from events e where ${isInRange(range)}`.execute(trx);
    if (rows.some(row => isSlow(row.name ?? ''))) {
      await sql`set local statement_timeout = 10`.execute(trx);
      await sql`select pg_sleep(60)`.execute(trx);
    }
    return reader(name).consume(trx, range);
  },
});

test('events that exceed the statement timeout do not stop the other tenants: they are set aside if another event is consumed', async () => {
  const other = await gateway.addTenant({ channel: false });
  let isFixed = false;
  const lasting = slowReader('lasting', name => !isFixed && name.startsWith('heavy '));
  await pastEvents(gateway);
  const { wake, stop } = await startReaders(resources, [lasting], 20);
  await write(3, 'heavy ');
  await write(2, 'light ', undefined, other.id);
  await eventually(async () => {
    wake();
    expect(await taken('lasting')).toEqual(['light 0', 'light 1']);
  });
  const kept = { reader: 'lasting', tenant_id: gateway.tenant.id, error: expect.stringContaining('timeout') };
  expect(await listSetAside(resources.db.read)).toMatchObject([kept, kept, kept]);
  await stop();

  const failed = { reader: 'lasting', outcome: 'failed' };
  expect(await retrySetAside(resources.db, [lasting])).toMatchObject([failed, failed, failed]);
  isFixed = true;
  const consumed = { reader: 'lasting', outcome: 'consumed' };
  expect(await retrySetAside(resources.db, [lasting])).toMatchObject([consumed, consumed, consumed]);
  expect(await taken('lasting')).toEqual(['heavy 0', 'heavy 1', 'heavy 2', 'light 0', 'light 1']);
});

test('no event is set aside while every event exceeds the statement timeout', async () => {
  let isBusy = true;
  const busy = slowReader('busy', () => isBusy);
  await pastEvents(gateway);
  const { wake, stop } = await startReaders(resources, [busy], 20);
  await write(2, 'any ');
  await eventually(() => {
    wake();
    expect(gateway.logs).toContainEqual(
      expect.objectContaining({ reader: 'busy', msg: 'setting an event aside failed' }),
    );
  });
  expect(await listSetAside(resources.db.read)).toEqual([]);
  isBusy = false;
  await eventually(async () => {
    wake();
    expect(await taken('busy')).toEqual(['any 0', 'any 1']);
  });
  await stop();
});

test('no event is set aside for an error of the database or of this version', async () => {
  let attempts = 0;
  let isThere = false;
  const missing: LogReader = {
    ...reader('missing'),
    async consume(trx, range) {
      attempts += 1;
      if (!isThere) await sql`select from no_such_table`.execute(trx);
      return reader('missing').consume(trx, range);
    },
  };
  await pastEvents(gateway);
  const { wake, stop } = await startReaders(resources, [missing]);
  await write(1, 'waiting ');
  await eventually(() => {
    wake();
    expect(attempts).toBeGreaterThan(10);
  });
  expect(await listSetAside(resources.db.read)).toEqual([]);
  isThere = true;
  await eventually(async () => {
    wake();
    expect(await taken('missing')).toEqual(['waiting 0']);
  });
  await stop();
});
