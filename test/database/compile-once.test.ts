import { afterAll, beforeAll, expect, test } from 'vitest';
import { compileOnce } from '../../src/database/compile-once.ts';
import type { Database } from '../../src/database/database.ts';
import { anyIn, anyOf, bigints, texts, unnest } from '../../src/database/expressions.ts';
import { openTestDatabase } from '../support/database.ts';

let db: Database;
let close: () => Promise<void>;
const texted: string[] = [];
beforeAll(async () => {
  const opened = await openTestDatabase({ onStatement: text => texted.push(text) });
  ({ db, close } = opened);
  await opened.database.query(
    `insert into plans (id, name, calls_per_minute) values (91, 'a', 1), (92, 'b', 2), (93, 'c', 3)`,
  );
});
afterAll(() => close());

test('a statement is built once and executed with the values of each call', async () => {
  let builds = 0;
  const findPlans = compileOnce((reader, ids: readonly number[], name: string | null) => {
    builds += 1;
    return reader
      .selectFrom('plans')
      .select(['id', 'name'])
      .where('id', '=', anyOf(ids))
      .where(eb => eb.or([eb('name', '=', name), eb('calls_per_minute', '=', 3)]))
      .orderBy('id');
  });
  expect(await findPlans(db.read, [91, 92], 'a')).toEqual([{ id: 91, name: 'a' }]);
  expect(await findPlans(db.read, [92, 93], 'b')).toEqual([
    { id: 92, name: 'b' },
    { id: 93, name: 'c' },
  ]);
  expect(await findPlans(db.write, [], null)).toEqual([]);
  expect(builds).toBe(1);
  expect(new Set(texted).size).toBe(1);
});

test('unnest turns arrays into rows with the same statement text for any length', async () => {
  const findByName = compileOnce((reader, ids: readonly number[], names: readonly (string | null)[]) =>
    reader
      .selectFrom(unnest('r', { id: bigints(ids), name: texts(names) }))
      .leftJoin('plans as p', join => join.onRef('p.id', '=', 'r.id').onRef('p.name', '=', 'r.name'))
      .select(['r.id', 'r.name', 'p.calls_per_minute'])
      .orderBy('r.id'),
  );
  expect(await findByName(db.read, [92], ['b'])).toEqual([{ id: 92, name: 'b', calls_per_minute: 2 }]);
  expect(await findByName(db.read, [91, 92], [null, 'c'])).toEqual([
    { id: 91, name: null, calls_per_minute: null },
    { id: 92, name: 'c', calls_per_minute: null },
  ]);
});

test('anyIn takes its values from a subquery', async () => {
  const rows = await db.read
    .selectFrom('plans')
    .select('name')
    .where('id', '=', eb => anyIn(eb.selectFrom('plans').select('id').where('name', '=', 'b')))
    .execute();
  expect(rows).toEqual([{ name: 'b' }]);
});
