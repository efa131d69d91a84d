import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Database } from '../../src/database/database.ts';
import { MAX_PREPARED, PLANNED_AT_EACH_CALL, raw } from '../../src/database/statements.ts';
import { openTestDatabase } from '../support/database.ts';

let db: Database;
let close: () => Promise<void>;
beforeAll(async () => {
  ({ db, close } = await openTestDatabase());
});
afterAll(() => close());

const prepared = async (): Promise<string[]> =>
  (
    await db.write.executeQuery(raw<{ statement: string }>('select statement from pg_prepared_statements', []))
  ).rows.map(row => row.statement);

test('a statement is prepared at its second use', async () => {
  const statement = 'select $1::int as twice';
  const run = async (value: number) => (await db.write.executeQuery(raw<{ twice: number }>(statement, [value]))).rows;
  expect(await run(1)).toEqual([{ twice: 1 }]);
  expect(await prepared()).not.toContain(statement);
  expect(await run(2)).toEqual([{ twice: 2 }]);
  expect(await prepared()).toContain(statement);
  expect(await run(3)).toEqual([{ twice: 3 }]);
});

test('a statement whose plan depends on its values is never prepared', async () => {
  const statement = `select ${PLANNED_AT_EACH_CALL} $1::int as value`;
  for (const value of [1, 2, 3])
    expect((await db.write.executeQuery(raw(statement, [value]))).rows).toEqual([{ value }]);
  expect(await prepared()).not.toContain(statement);
});

test('a connection keeps a bounded number of prepared statements, however much queries vary', async () => {
  for (let n = 0; n < MAX_PREPARED + 200; n += 1) {
    const query = raw<{ value: number }>(`select $1::int + ${n} as value`, [1]);
    for (let use = 0; use < 2; use += 1) expect((await db.write.executeQuery(query)).rows).toEqual([{ value: n + 1 }]);
  }
  expect((await prepared()).length).toBeLessThanOrEqual(MAX_PREPARED);
  expect((await prepared()).length).toBeGreaterThan(MAX_PREPARED / 2);
});
