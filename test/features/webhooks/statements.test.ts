import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Database } from '../../../src/database/database.ts';
import {
  cancelDeliveries,
  type DueDelivery,
  type ErasedDelivery,
  enqueueEvents,
  nextDeliveries,
  recordAttempts,
  type WaitingEndpoint,
  waitingEndpoints,
  withIndexScans,
} from '../../../src/features/webhooks/delivery/queue.sql.ts';
import type { EndpointRow } from '../../../src/features/webhooks/endpoints/endpoint.ts';
import {
  changeHealth,
  findTargets,
  renumberListening,
  type Target,
} from '../../../src/features/webhooks/endpoints/targets.sql.ts';
import { type BodyRow, getBodies } from '../../../src/features/webhooks/log/bodies.sql.ts';
import { createTestDatabase, type TestDatabase } from '../../support/database.ts';
import { type ColumnsOf, describeColumns } from '../../support/describe-statement.ts';

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.drop());

const START = { xid: 0n, seq: 0 };

const ENDPOINT = {
  id: 'bigint',
  url: 'text',
  events: 'text[]',
  format: 'text',
  description: 'text',
  header_names: 'text[]',
  enabled: 'boolean',
  disabled_reason: 'text',
  disabled_at: 'timestamp with time zone',
  failing_since: 'timestamp with time zone',
  previous_secret_until: 'timestamp with time zone',
  created_at: 'timestamp with time zone',
  updated_at: 'timestamp with time zone',
} satisfies ColumnsOf<EndpointRow>;

test('endpoints to deliver to are described as their row type says', async () => {
  expect(await describeColumns(database.url, db => findTargets(db, []))).toEqual({
    ...ENDPOINT,
    tenant_id: 'bigint',
    secret: 'bytea',
    headers: 'bytea',
    previous_secret: 'bytea',
    failing_for_ms: 'double precision',
    tenant_name: 'text',
    tenant_slug: 'text',
    tenant_status: 'text',
  } satisfies ColumnsOf<Target>);
});

test('endpoints whose health changed are described as their row type says', async () => {
  expect(await describeColumns(database.url, db => changeHealth(db, []))).toEqual({ ...ENDPOINT, tenant_id: 'bigint' });
});

test('endpoints with queued deliveries are described as their row type says', async () => {
  const start = { tenantId: 0, endpointId: 0 };
  expect(await describeColumns(database.url, db => waitingEndpoints(db, 0, start))).toEqual({
    tenant_id: 'bigint',
    endpoint_id: 'bigint',
    due_in_ms: 'double precision',
    is_live: 'boolean',
  } satisfies ColumnsOf<WaitingEndpoint>);
});

test('the next deliveries are described as their row type says', async () => {
  expect(await describeColumns(database.url, db => nextDeliveries(db, 0, [], 10))).toEqual({
    tenant_id: 'bigint',
    id: 'uuid',
    endpoint_id: 'bigint',
    event_id: 'uuid',
    event_type: 'text',
    is_test: 'boolean',
    attempts: 'integer',
    attempts_since_queued: 'integer',
    next_attempt_at: 'timestamp with time zone',
    created_at: 'timestamp with time zone',
    payload: 'jsonb',
    occurred_at: 'timestamp with time zone',
    is_sandbox: 'boolean',
  } satisfies ColumnsOf<DueDelivery>);
});

test('erased deliveries are described as their row type says', async () => {
  const now = '2026-11-22T12:00:00.000Z';
  expect(await describeColumns(database.url, db => cancelDeliveries(db, 1, [1], 'erased', now, 10))).toEqual({
    id: 'uuid',
    contact_id: 'bigint',
    was_pending: 'boolean',
  } satisfies ColumnsOf<ErasedDelivery>);
});

test('the events of request bodies are described as their row type says', async () => {
  expect(await describeColumns(database.url, db => getBodies(db, 1, []))).toEqual({
    id: 'uuid',
    type: 'text',
    payload: 'jsonb',
    occurred_at: 'timestamp with time zone',
    is_sandbox: 'boolean',
  } satisfies ColumnsOf<BodyRow>);
});

test('the other statements are accepted by the database', async () => {
  const stretch = { after: START, until: START };
  expect(Object.keys((await describeColumns(database.url, db => enqueueEvents(db, stretch, []))) ?? {})).toEqual([
    'shard',
  ]);
  expect(await describeColumns(database.url, db => recordAttempts(db, []))).toBeUndefined();
  expect(await describeColumns(database.url, db => renumberListening(db))).toBeUndefined();
});

test('the settings of a transaction by index are one statement', async () => {
  const columns = await describeColumns(database.url, db => {
    const transaction: Database['transaction'] = work => work(db);
    return withIndexScans({ transaction } as Database, async () => undefined);
  });
  expect(columns).toEqual({ set_config: 'text' });
});
