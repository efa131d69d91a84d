import { afterAll, beforeAll, expect, test } from 'vitest';
import {
  type DueMessage,
  findDue,
  lockDue,
  type Released,
  recordQueued,
  requeue,
} from '../../../../src/features/messages/scheduling/scheduled.sql.ts';
import { createTestDatabase, type TestDatabase } from '../../../support/database.ts';
import { type ColumnsOf, describeColumns } from '../../../support/describe-statement.ts';

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.drop());

const ID = '01934c1e-0000-7000-8000-000000000000';
const MONTH = '2026-11-01';

test('rows of scheduled messages match their declared types', async () => {
  expect(await describeColumns(database.url, db => findDue(db, 1, []))).toEqual({
    tenant_id: 'bigint',
    message_id: 'uuid',
    contact_id: 'bigint',
  } satisfies ColumnsOf<DueMessage>);
  expect(await describeColumns(database.url, db => lockDue(db, 1, [ID], MONTH))).toEqual({
    message_id: 'uuid',
    conversation_id: 'bigint',
    is_free_form: 'boolean',
    is_window_required: 'boolean',
    is_window_open: 'boolean',
    is_counted: 'boolean',
    takes_over: 'boolean',
  } satisfies ColumnsOf<Released>);
  expect(await describeColumns(database.url, db => requeue(db, 1, [{ messageId: ID, priority: 2 }]))).toBeDefined();
  expect(
    await describeColumns(database.url, db =>
      recordQueued(db, 1, [{ messageId: ID, conversationId: 1, takesOver: true }], MONTH, '2026-11-23T00:00:00Z'),
    ),
  ).toBeUndefined();
});

test('due messages are found by the beginning of their index alone', async () => {
  const plan = await database.query<{ 'QUERY PLAN': string }>(
    `explain (costs off) select message_id from outbox where priority = 4 and due_at <= statement_timestamp() and tenant_id <> all('{1}'::bigint[])
     order by due_at, position limit 5`,
  );
  expect(plan.map(row => row['QUERY PLAN']).join('\n')).toMatch(/Index Cond: \(due_at <= statement_timestamp\(\)\)/);
});
