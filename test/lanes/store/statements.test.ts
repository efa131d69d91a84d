import { randomUUID } from 'node:crypto';
import { sql } from 'kysely';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { ACCOUNT_BACKLOGS } from '../../../src/app/lanes/backlogs.ts';
import { botBacklog, dueBotLanes } from '../../../src/features/bots/reply/replies.sql.ts';
import {
  type ClaimedLane,
  claimLanes,
  deleteBehind,
  deleteOldLanes,
  findDueLanes,
  releaseLanes,
  renewLanes,
} from '../../../src/lanes/store/lanes.sql.ts';
import {
  type AccountLane,
  endLease,
  type LaneOverview,
  listAccountLanes,
  listLanes,
  type ReleasedLane,
} from '../../../src/lanes/store/overview.sql.ts';
import { createTestDatabase, type TestDatabase } from '../../support/database.ts';
import { type ColumnsOf, describeColumns } from '../../support/describe-statement.ts';

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.drop());

const LANE = { tenantId: 1, queue: 'outbox', key: '1' };

test('rows of claimed lanes match their declared type', async () => {
  expect(await describeColumns(database.url, db => claimLanes(db, randomUUID(), [LANE], 1))).toEqual({
    queue: 'text',
    tenant_id: 'bigint',
    key: 'text',
    epoch: 'bigint',
    is_takeover: 'boolean',
  } satisfies ColumnsOf<ClaimedLane>);
});

test('rows of the lane list match their declared type', async () => {
  expect(await describeColumns(database.url, db => listLanes(db, { bots: botBacklog }))).toEqual({
    lane: 'text',
    holder: 'text',
    backlog: 'bigint',
    oldest_seconds: 'double precision',
    lease_until: 'timestamp with time zone',
    rests_until: 'timestamp with time zone',
    failures: 'integer',
    error: 'text',
  } satisfies ColumnsOf<LaneOverview>);
});

test("rows of an account's lanes match their declared type", async () => {
  expect(await describeColumns(database.url, db => listAccountLanes(db, 1, ACCOUNT_BACKLOGS))).toEqual({
    queue: 'text',
    key: 'text',
    is_held: 'boolean',
    waiting: 'bigint',
    oldest_at: 'timestamp with time zone',
    rests_until: 'timestamp with time zone',
    failures: 'integer',
    error: 'text',
  } satisfies ColumnsOf<AccountLane>);
});

test('rows of released lanes match their declared type', async () => {
  expect(await describeColumns(database.url, db => endLease(db, LANE))).toEqual({
    holder: 'text',
    free_at: 'timestamp with time zone',
  } satisfies ColumnsOf<ReleasedLane>);
});

test('PostgreSQL accepts the statements for sweep, renewal and release', async () => {
  const bots = { name: 'bots', dueLanes: dueBotLanes };
  expect(await describeColumns(database.url, db => findDueLanes(db, randomUUID(), [bots]))).toEqual({
    queue: 'text',
    key: 'text',
  });
  const process = { id: randomUUID(), name: 'test', slots: {}, timeline: 1 };
  expect(await describeColumns(database.url, db => renewLanes(db, process, [], 1))).toEqual({
    epochs: 'jsonb',
    processes: 'jsonb',
    timeline: 'integer',
    is_behind: 'boolean',
  });
  expect(await describeColumns(database.url, db => deleteBehind(db, 2, 1))).toBeUndefined();
  expect(await describeColumns(database.url, db => releaseLanes(db, []))).toBeUndefined();
  expect(await describeColumns(database.url, deleteOldLanes)).toBeUndefined();
});

test('a statement with an unknown column is rejected', async () => {
  await expect(describeColumns(database.url, db => sql`select nothing from lanes`.execute(db))).rejects.toThrow(
    'column "nothing" does not exist',
  );
});
