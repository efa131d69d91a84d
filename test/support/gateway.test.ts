import { afterAll, beforeAll, expect, test } from 'vitest';
import { createTestDatabase, type TestDatabase } from './database.ts';
import { startGateway } from './gateway.ts';

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.drop());

test('a gateway that cannot start leaves no database', async () => {
  const ofThisWorker = () =>
    database.query('select datname from pg_database where starts_with(datname, $1) order by 1', [
      `parley_test_${process.pid}_`,
    ]);
  const before = await ofThisWorker();
  await expect(startGateway({ env: { PORT: 'none' } })).rejects.toThrow('PORT');
  expect(await ofThisWorker()).toEqual(before);
});
