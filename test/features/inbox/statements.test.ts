import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import {
  insertChanges,
  insertUnrouted,
  type ListedChange,
  listUnhandled,
} from '../../../src/features/inbox/changes.sql.ts';
import { rewriteChanges, rewriteUnrouted, rewriteWebhooks } from '../../../src/features/inbox/erase.sql.ts';
import {
  claimWebhooks,
  deleteOldWebhooks,
  dueInboxLanes,
  inboxBacklog,
  insertPeople,
  insertWebhooks,
  listWebhooksOf,
  lockWaiting,
  markFailed,
  removeGivenUp,
  requeueWebhook,
  type StoredWebhook,
  type WaitingWebhook,
} from '../../../src/features/inbox/webhooks.sql.ts';
import { createTestDatabase, type TestDatabase } from '../../support/database.ts';
import { type ColumnsOf, describeColumns } from '../../support/describe-statement.ts';

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.drop());

const ID = randomUUID();
const BYTES = Buffer.from('{}');

test('webhooks are described as their row types say', async () => {
  const address = { phoneNumberIds: ['1'], accountIds: ['2'], version: '', revision: ID };
  const webhook = { tenants: [{ tenantId: 1, channelIds: [1, 2] }], address, digest: BYTES, body: BYTES };
  expect(await describeColumns(database.url, db => insertWebhooks(db, [webhook]))).toEqual({
    tenant_ids: 'bigint[]',
    stale: 'integer[]',
    outdated: 'integer[]',
  });
  for (const kind of ['fresh', 'failed'] as const)
    expect(await describeColumns(database.url, db => claimWebhooks(db, 1, kind, 1, 1))).toEqual({
      id: 'uuid',
      body: 'bytea',
      channel_ids: 'bigint[]',
      attempts: 'integer',
      failures: 'integer',
      received_at: 'timestamp with time zone',
      now_ms: 'double precision',
    } satisfies ColumnsOf<WaitingWebhook>);
  expect(await describeColumns(database.url, db => listWebhooksOf(db, 1, [1], 1, ID))).toEqual({
    id: 'uuid',
    digest: 'bytea',
    body: 'bytea',
    received_at: 'timestamp with time zone',
  } satisfies ColumnsOf<StoredWebhook>);
  expect(
    await describeColumns(database.url, db => insertPeople(db, 1, [{ webhookId: ID, person: 1 }])),
  ).toBeUndefined();
  expect(
    await describeColumns(database.url, db => rewriteWebhooks(db, 1, [{ id: ID, body: BYTES, people: [1] }])),
  ).toBeUndefined();
  const lane = { queue: 'inbox', tenantId: 1, key: '1', epoch: 1 };
  expect(await describeColumns(database.url, db => markFailed(db, lane, ID, 'failed', 1))).toBeUndefined();
  expect(await describeColumns(database.url, db => removeGivenUp(db, 1, ID, 'failed'))).toBeUndefined();
  expect(await describeColumns(database.url, db => lockWaiting(db, 1, ID))).toEqual({
    id: 'uuid',
    body: 'bytea',
    channel_ids: 'bigint[]',
    attempts: 'integer',
    failures: 'integer',
    received_at: 'timestamp with time zone',
    now_ms: 'double precision',
  } satisfies ColumnsOf<WaitingWebhook>);
  expect(
    await describeColumns(database.url, db => requeueWebhook(db, 1, [1], BYTES, ID, BYTES, new Date().toISOString())),
  ).toBeUndefined();
  expect(await describeColumns(database.url, db => deleteOldWebhooks(db, new Date().toISOString(), 1))).toEqual({
    count: 'integer',
  });
});

test('lanes of the inbox are described as their row types say', async () => {
  expect(await describeColumns(database.url, db => dueInboxLanes.execute(db))).toEqual({
    tenant_id: 'bigint',
    key: 'text',
  } satisfies ColumnsOf<{ tenant_id: number; key: string }>);
  expect(await describeColumns(database.url, db => inboxBacklog(undefined).execute(db))).toEqual({
    tenant_id: 'bigint',
    key: 'text',
    count: 'bigint',
    oldest_at: 'timestamp with time zone',
  } satisfies ColumnsOf<{ tenant_id: number; key: string; count: number; oldest_at: string }>);
});

test('changes that were not applied are described as their row types say', async () => {
  for (const tenantId of [1, null, undefined])
    expect(
      await describeColumns(database.url, db => listUnhandled(db, { tenantId, field: undefined, limit: 1 })),
    ).toEqual({
      id: 'uuid',
      tenant: 'text',
      field: 'text',
      reason: 'text',
      error: 'text',
      version: 'text',
      received_at: 'timestamp with time zone',
      raw: 'jsonb',
      raw_text: 'bytea',
    } satisfies ColumnsOf<ListedChange & { raw_text: Buffer }>);
  expect(await describeColumns(database.url, db => insertChanges(db, 1, []))).toBeUndefined();
  expect(
    await describeColumns(database.url, db =>
      insertUnrouted(db, [{ id: ID, digest: BYTES, field: 'messages', raw: BYTES }], BYTES, '1'),
    ),
  ).toBeUndefined();
  expect(await describeColumns(database.url, db => rewriteChanges(db, 1, [{ id: ID, raw: {} }]))).toBeUndefined();
  expect(await describeColumns(database.url, db => rewriteUnrouted(db, [{ id: ID, raw: BYTES }]))).toBeUndefined();
});
