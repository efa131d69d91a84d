import { type RawBuilder, sql } from 'kysely';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Database } from '../../src/database/database.ts';
import { clockTime, clockTimeIn, statementTime } from '../../src/database/expressions.ts';
import { openTestDatabase } from '../support/database.ts';

let db: Database;
let close: () => Promise<void>;
beforeAll(async () => {
  ({ db, close } = await openTestDatabase());
});
afterAll(() => close());

/** Of 20 times as columns of milliseconds store them, those that lie after the clock when they are read. */
async function countLate(time: RawBuilder<string>): Promise<number | undefined> {
  const { rows } = await sql<{ late: number }>`
    with stored as materialized (select (${time})::timestamptz(3) as at from generate_series(1, 20))
    select count(*)::int as late from stored where at > clock_timestamp()`.execute(db.read);
  return rows[0]?.late;
}

test.each([
  ['the clock', clockTime],
  ['the clock and no milliseconds more', clockTimeIn(0)],
  ['the start of the statement', statementTime],
])('what is due at %s is due when it is read back', async (_name, time) => {
  // At 50 instants, anywhere in a millisecond.
  for (let round = 0; round < 50; round += 1) expect(await countLate(time)).toBe(0);
});

test('a time in some milliseconds lies that far from the clock', async () => {
  const { rows } = await sql<{ ahead: number; behind: number }>`
    select extract(epoch from ${clockTimeIn(90_000)} - clock_timestamp())::float8 as ahead,
      extract(epoch from ${clockTimeIn(-90_000)} - clock_timestamp())::float8 as behind`.execute(db.read);
  expect(rows[0]?.ahead).toBeGreaterThan(60);
  expect(rows[0]?.ahead).toBeLessThanOrEqual(90);
  expect(rows[0]?.behind).toBeLessThanOrEqual(-90);
});
