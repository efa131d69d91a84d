import { afterAll, beforeAll, expect, test } from 'vitest';
import type { ChannelRef } from '../../../src/features/channels/channel.ts';
import { claimUnchecked, writeHealth } from '../../../src/features/channels/health.sql.ts';
import type { PublicHealth } from '../../../src/features/channels/health.ts';
import { findWebhookOwners, type WebhookOwnerRow } from '../../../src/features/channels/webhook-owners.sql.ts';
import { type ChannelBacklog, readBacklogs } from '../../../src/features/messages/dispatch/outbox.sql.ts';
import { createTestDatabase, type TestDatabase } from '../../support/database.ts';
import { type ColumnsOf, describeColumns } from '../../support/describe-statement.ts';

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.drop());

test('owners of a webhook are described as their row type says', async () => {
  expect(await describeColumns(database.url, db => findWebhookOwners(db, ['1'], ['2']))).toEqual({
    tenant_id: 'bigint',
    channel_id: 'bigint',
    phone_number_id: 'text',
    waba_id: 'text',
    portfolio_id: 'text',
    display_phone_number: 'text',
    app_secret_sealed: 'bytea',
    version: 'text',
    revision: 'uuid',
  } satisfies ColumnsOf<WebhookOwnerRow>);
});

const HEALTH: PublicHealth = {
  channel_id: 1,
  updated_at: '2026-11-22T00:00:00.000Z',
  quality: null,
  messaging_limit: null,
  is_messaging_limit_known: false,
  throughput: null,
  name_status: null,
  name_reason: null,
  requested_name: null,
  account_review: null,
  account_status: null,
  username: null,
  username_status: null,
  restrictions: [],
  last_error: null,
  last_change: null,
  can_send: null,
  checked_at: null,
};

test('the update of health is understood by the database', async () => {
  expect(await describeColumns(database.url, db => writeHealth(db, 1, [HEALTH]))).toBeUndefined();
});

test('the claim of unchecked channels is described as its row type says', async () => {
  const now = new Date(0).toISOString();
  const times = { now, checkedBefore: now, askedBefore: now };
  expect(await describeColumns(database.url, db => claimUnchecked(db, times))).toEqual({
    tenantId: 'bigint',
    channelId: 'bigint',
  } satisfies ColumnsOf<ChannelRef>);
});

test('the queues of channels are described as their row type says', async () => {
  expect(await describeColumns(database.url, db => readBacklogs(db, 1, [1]))).toEqual({
    channel_id: 'bigint',
    count: 'bigint',
    oldest_at: 'timestamp with time zone',
  } satisfies ColumnsOf<ChannelBacklog>);
});
