import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { findHoldFacts, type HoldFacts } from '../../../../src/features/messages/dispatch/hold-reason.sql.ts';
import { QueueFront } from '../../../../src/features/messages/dispatch/lane-memory.ts';
import {
  beginTriesAnew,
  type Claimed,
  claimDue,
  dueOutboxLanes,
  extendDoubt,
  findOptedOut,
  lockTurns,
  lockWaiting,
  nextDueMs,
  outboxBacklog,
  postpone,
  repairTurns,
  type Settled,
  settle,
} from '../../../../src/features/messages/dispatch/outbox.sql.ts';
import { type Backlog, findQueuedBefore, readBacklog } from '../../../../src/features/messages/dispatch/release.sql.ts';
import {
  findUnsettled,
  markInDoubt,
  type Unsettled,
} from '../../../../src/features/messages/dispatch/restore-sent.sql.ts';
import { readManySendFacts, type SendFacts } from '../../../../src/features/messages/send/facts.sql.ts';
import { createTestDatabase, type TestDatabase } from '../../../support/database.ts';
import { type ColumnsOf, describeColumns, describeStatements } from '../../../support/describe-statement.ts';

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.drop());

const ID = randomUUID();
const NOW = new Date().toISOString();
const LANE = { queue: 'outbox', tenantId: 1, key: '1:1', epoch: 1 };

test('rows of outbox claims match their declared types', async () => {
  const claim = { tenantId: 1, channelId: 1, limit: 1, front: new QueueFront() };
  const lanes = { timeline: 1, suspectPromotion: () => undefined };
  expect(await describeColumns(database.url, db => claimDue(db, [claim], 1, lanes))).toEqual({
    is_current: 'boolean',
    lane: 'integer',
    message_id: 'uuid',
    contact_id: 'bigint',
    priority: 'smallint',
    attempts: 'smallint',
    type: 'text',
    body: 'text',
    content: 'jsonb',
    reply_to_wamid: 'text',
    age_ms: 'double precision',
    phone: 'text',
    user_id: 'text',
    opted_out_at: 'timestamp with time zone',
    sealed: 'bytea',
    next_attempt_at: 'timestamp with time zone',
  } satisfies ColumnsOf<Claimed & { is_current: boolean; lane: number; next_attempt_at: string }>);
  expect(await describeColumns(database.url, db => nextDueMs(db, 1, 1, 1, new QueueFront()))).toEqual({
    ms: 'double precision',
  });
  const templates = { tenantId: 1, wabaId: '1', messageIds: [ID] };
  expect(await describeColumns(database.url, db => findOptedOut(db, templates))).toEqual({
    id: 'uuid',
    category: 'text',
  });
  expect(await describeColumns(database.url, db => extendDoubt(db, LANE))).toEqual({ extend_doubt: 'void' });
  expect(await describeColumns(database.url, db => extendDoubt(db))).toBeUndefined();
  expect(await describeColumns(database.url, db => beginTriesAnew(db, 1, 1))).toEqual({ begin_tries_anew: 'void' });
  expect(await describeColumns(database.url, db => findHoldFacts(db, 1, [ID]))).toEqual({
    message_id: 'uuid',
    is_outbox_held: 'boolean',
    channel_status: 'text',
    channel_reason: 'text',
    hold_reason: 'text',
    lane_error: 'text',
    is_behind: 'boolean',
    is_in_doubt: 'boolean',
  } satisfies ColumnsOf<HoldFacts>);
  const known = { tenantId: 1, messageId: ID };
  expect(await describeColumns(database.url, db => findUnsettled(db, [known]))).toEqual({
    message_id: 'uuid',
    is_waiting: 'boolean',
  } satisfies ColumnsOf<Unsettled>);
  expect(await describeColumns(database.url, db => markInDoubt(db, [{ ...known, attempts: 1 }]))).toEqual({
    marked: 'integer',
  });
  const postponed = { messageId: ID, attempts: 1, afterMs: 1, attempted: true, inDoubt: false, lane: LANE };
  expect(await describeColumns(database.url, db => postpone(db, [postponed]))).toBeDefined();
});

test('rows of settled and cancelled messages match their declared types', async () => {
  expect(await describeColumns(database.url, db => settle(db, [{ tenantId: 1, messageId: ID }]))).toEqual({
    tenant_id: 'bigint',
    message_id: 'uuid',
    channel_id: 'bigint',
    is_released: 'boolean',
  } satisfies ColumnsOf<Settled>);
  expect(await describeColumns(database.url, db => lockTurns(db, 1, [ID], 'waiting'))).toMatchObject({
    now: 'timestamp with time zone',
  });
  const [waiting, locked] = await describeStatements(database.url, db => lockWaiting(db, 1, { messageIds: [ID] }), [
    [{ message_id: ID }],
  ]);
  expect(waiting?.columns).toEqual({ message_id: 'uuid' });
  expect(locked?.text).toContain('lock_states');
  expect(await describeColumns(database.url, db => repairTurns(db))).toEqual({ repaired: 'integer' });
});

test('rows of lanes and backlog match their declared types', async () => {
  expect(await describeColumns(database.url, db => dueOutboxLanes(1).execute(db))).toEqual({
    tenant_id: 'bigint',
    key: 'text',
  } satisfies ColumnsOf<{ tenant_id: number; key: string }>);
  expect(await describeColumns(database.url, db => outboxBacklog(undefined).execute(db))).toEqual({
    tenant_id: 'bigint',
    key: 'text',
    count: 'bigint',
    oldest_at: 'timestamp with time zone',
  } satisfies ColumnsOf<{ tenant_id: number; key: string; count: number; oldest_at: string }>);
  expect(await describeColumns(database.url, db => readBacklog(db))).toEqual({
    tenant: 'text',
    channel: 'text',
    waiting: 'bigint',
    in_doubt: 'bigint',
    oldest: 'timestamp with time zone',
    newest: 'timestamp with time zone',
  } satisfies ColumnsOf<Backlog>);
  expect(await describeColumns(database.url, db => findQueuedBefore(db, NOW, 1))).toEqual({
    tenant_id: 'bigint',
    ids: 'text[]',
  });
});

test('the row read by a send matches its declared type', async () => {
  for (const recipient of [{ contactId: 1 }, { phoneKey: '14155550123', phone: '+14155550123' }])
    expect(
      await describeColumns(database.url, db =>
        readManySendFacts(db, 1, [
          { channelId: null, recipient, key: 'a', category: 'marketing', digest: Buffer.alloc(32) },
        ]),
      ),
    ).toEqual({
      place: 'integer',
      channel_id: 'bigint',
      channel_status: 'text',
      channel_status_reason: 'text',
      contact: 'json',
      contact_user_id: 'text',
      is_unreachable: 'boolean',
      category_opted_out_at: 'timestamp with time zone',
      conversation_id: 'bigint',
      window_expires_at: 'timestamp with time zone',
      conversation_status: 'text',
      erased_at: 'timestamp with time zone',
      erased_opt_outs: 'text[]',
      key_operation: 'text',
      key_fingerprint: 'text',
      key_result: 'jsonb',
      key_answer: 'jsonb',
      key_age: 'double precision',
      now_ms: 'double precision',
    } satisfies ColumnsOf<SendFacts>);
});
