import { sql } from 'kysely';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createDatabase, type Database } from '../../src/database/database.ts';
import { clockTime, clockTimeIn, statementTime } from '../../src/database/expressions.ts';
import { createLog } from '../../src/platform/log.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';

let database: TestDatabase;
let db: Database;
beforeAll(async () => {
  database = await createTestDatabase();
  db = createDatabase({ url: database.url, poolSize: 1, readers: 1, log: createLog('silent') });
});
afterAll(async () => {
  await db.close();
  await database.drop();
});

/** Of 1,000 times stored in a column of milliseconds, those that lie after the clock when they are read. */
async function countLate(time: typeof clockTime): Promise<number> {
  await sql`create temporary table if not exists stored (at timestamptz(3))`.execute(db.write);
  await sql`truncate stored`.execute(db.write);
  for (let round = 0; round < 50; round += 1) {
    const { rows } = await sql<{ late: number }>`
      with written as (insert into stored select ${time} from generate_series(1, 20) returning at)
      select count(*)::int as late from written where at > clock_timestamp()`.execute(db.write);
    if (rows[0]?.late) return rows[0].late;
  }
  return 0;
}

test.each([
  ['the clock', clockTime],
  ['the clock and no milliseconds more', clockTimeIn(0)],
  ['the start of the statement', statementTime],
])('what is due at %s is due when it is read back', async (_name, time) => {
  expect(await countLate(time)).toBe(0);
});

test('a time in some milliseconds lies that far from the clock', async () => {
  const { rows } = await sql<{ ahead: number; behind: number }>`
    select extract(epoch from ${clockTimeIn(90_000)} - clock_timestamp())::float8 as ahead,
      extract(epoch from ${clockTimeIn(-90_000)} - clock_timestamp())::float8 as behind`.execute(db.read);
  expect(rows[0]?.ahead).toBeGreaterThan(60);
  expect(rows[0]?.ahead).toBeLessThanOrEqual(90);
  expect(rows[0]?.behind).toBeLessThanOrEqual(-90);
});
