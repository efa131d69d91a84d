import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Db } from '../../src/database/database.ts';
import { readTenant } from '../../src/events/log.sql.ts';
import { findNextRange } from '../../src/events/readers.sql.ts';
import { findOtherEvent } from '../../src/events/set-aside.sql.ts';
import { areAnyLeftToBots } from '../../src/features/bots/reply/inbox.sql.ts';
import { openTestDatabase } from '../support/database.ts';
import { rowsReadBy } from '../support/rows-read.ts';

let opened: Awaited<ReturnType<typeof openTestDatabase>>;
beforeAll(async () => {
  opened = await openTestDatabase();
  const add = (from: number, to: number) =>
    opened.database.query(
      `insert into events (tenant_id, id, type, payload, xid, seq)
       select 1, uuid_v7(now(), n), 'message.received', '{}', (1000 + (n - 1) / 50)::text::xid8, n from generate_series($1::int, $2::int) n`,
      [from, to],
    );
  // Each transaction has many events and is listed in the statistics; all later events are unknown to them.
  await add(1, KNOWN);
  await opened.database.query('analyze events');
  await add(KNOWN + 1, KNOWN + LATER);
});
afterAll(() => opened.close());

const [KNOWN, LATER] = [1_000, 20_000];
const LAST_KNOWN = { xid: BigInt(1_000 + KNOWN / 50 - 1), seq: KNOWN };
const HORIZON = { xid: 1_000_000n, seq: 0 };

/** The number of events that some work reads. */
const eventsRead = (work: (trx: Db) => Promise<void>): Promise<number> =>
  opened.db.transaction(trx => rowsReadBy(trx, ['events'], () => work(trx)));

test('a reader that is behind reads the events of its next range only, whatever the statistics say', async () => {
  const read = await eventsRead(async trx => {
    const range = await findNextRange(trx, LAST_KNOWN, HORIZON, 100);
    expect(range).toMatchObject({ count: 100, until: { seq: KNOWN + 100 } });
  });
  expect(read).toBeLessThan(200);
});

test('another event than one that fails is found in the next 5,000 only, whatever the statistics say', async () => {
  const read = await eventsRead(async trx => {
    expect(await findOtherEvent(trx, LAST_KNOWN, 1)).toMatchObject({ seq: KNOWN + 1 });
  });
  expect(read).toBeLessThan(5_100);
});

test('the events that are examined for bots are the next 5,000 only, whatever the statistics say', async () => {
  const read = await eventsRead(async trx => {
    expect(await areAnyLeftToBots(trx, LAST_KNOWN)).toBe(true);
  });
  expect(read).toBeLessThan(5_100);
});

test('a subscriber that resumes reads the events of its next page only, whatever the statistics say', async () => {
  const read = await eventsRead(async trx => {
    const selection = { types: ['message.received'], after: LAST_KNOWN, before: HORIZON } as const;
    expect(await readTenant(trx, 1, selection, 100)).toHaveLength(100);
  });
  expect(read).toBeLessThan(200);
});
