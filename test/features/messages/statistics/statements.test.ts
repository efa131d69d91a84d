import { afterAll, beforeAll, expect, test } from 'vitest';
import { STATISTIC_COLUMNS } from '../../../../src/features/messages/statistics/columns.ts';
import {
  countMessages,
  deleteZeroCounts,
  movePending,
} from '../../../../src/features/messages/statistics/statistics.sql.ts';
import { createTestDatabase, type TestDatabase } from '../../../support/database.ts';
import { describeColumns } from '../../../support/describe-statement.ts';

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.drop());

const HOUR = 3_600_000;

test.each([true, false])('statistics have the columns of their row type (deliveries: %s)', async deliveries => {
  const columns = STATISTIC_COLUMNS.filter(name => deliveries || name !== 'delivery_bucket');
  const spans = { hours: [0, 9 * HOUR], splitHours: [HOUR], ranges: [[HOUR, 2 * HOUR]] } as const;
  const request = { spans, starts: [0], columns, filter: {}, onlyPriced: true };
  expect(await describeColumns(database.url, db => countMessages(db, 1, request))).toEqual({
    place: 'integer',
    status: 'text',
    channel_id: 'bigint',
    template_id: 'bigint',
    campaign_id: 'bigint',
    author: 'text',
    country: 'text',
    category: 'text',
    pricing_type: 'text',
    is_billable: 'boolean',
    error_code: 'integer',
    ...(deliveries && { delivery_bucket: 'smallint' }),
    messages: 'bigint',
  });
});

test('moving changes into the statistics is a valid statement', async () => {
  expect(await describeColumns(database.url, db => movePending(db, 1))).toEqual({ moved: 'integer' });
});

test('removing counts that have become zero is a valid statement', async () => {
  expect(await describeColumns(database.url, db => deleteZeroCounts(db, 1))).toEqual({ removed: 'integer' });
});
