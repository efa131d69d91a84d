import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import {
  type ChangedTemplate,
  deleteMissing,
  deleteTemplates,
  patchTemplates,
  upsertTemplates,
} from '../../../src/features/templates/changes.sql.ts';
import { findSendables, type Sendable } from '../../../src/features/templates/sending/sendables.sql.ts';
import { beginSync, dueSyncLanes, failSync, syncBacklog } from '../../../src/features/templates/sync/runs.sql.ts';
import type { TemplateRow } from '../../../src/features/templates/template.ts';
import { createTestDatabase, type TestDatabase } from '../../support/database.ts';
import { type ColumnsOf, describeColumns } from '../../support/describe-statement.ts';

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.drop());

const NAME = { waba_id: '1', name: 'hello', language: 'en' };
const CHANGED = { row: 'jsonb', previous: 'jsonb' } as const satisfies ColumnsOf<ChangedTemplate>;
const TEMPLATE = {
  id: 'bigint',
  waba_id: 'text',
  network_id: 'text',
  name: 'text',
  language: 'text',
  category: 'text',
  status: 'text',
  status_reason: 'text',
  parameter_format: 'text',
  quality: 'text',
  components: 'jsonb',
  created_at: 'timestamp with time zone',
  updated_at: 'timestamp with time zone',
} as const satisfies ColumnsOf<TemplateRow>;

test('changed and deleted templates are described as their row types say', async () => {
  const now = new Date().toISOString();
  expect(await describeColumns(database.url, db => upsertTemplates(db, 1, '1', [], now))).toEqual(CHANGED);
  expect(await describeColumns(database.url, db => patchTemplates(db, 1, [NAME]))).toEqual(CHANGED);
  expect(await describeColumns(database.url, db => deleteTemplates(db, 1, [NAME]))).toEqual(TEMPLATE);
  expect(await describeColumns(database.url, db => deleteMissing(db, 1, '1', now, [NAME]))).toEqual(TEMPLATE);
});

test('templates of a send are described as their row type says', async () => {
  expect(await describeColumns(database.url, db => findSendables(db, 1, null, 'hello', 'en'))).toEqual({
    channel_id: 'bigint',
    id: 'bigint',
    language: 'text',
    status: 'text',
    status_reason: 'text',
    category: 'text',
    parameter_format: 'text',
    components: 'jsonb',
  } satisfies ColumnsOf<Sendable>);
});

test('runs of a sync are described as their row types say', async () => {
  const run = { id: randomUUID(), leaseSeconds: 1, nextSeconds: 1 };
  const lane = { queue: 'template-syncs', tenantId: 1, key: '1:1', epoch: 1 };
  for (const held of [lane, undefined]) {
    expect(await describeColumns(database.url, db => beginSync(db, 1, '1', { ...run, lane: held }))).toEqual({
      started_at: 'timestamp with time zone',
    } satisfies ColumnsOf<{ started_at: string }>);
    expect(await describeColumns(database.url, db => failSync(db, 1, '1', run.id, 'timeout', 1, held))).toBeUndefined();
  }
  expect(await describeColumns(database.url, db => dueSyncLanes.execute(db))).toEqual({
    tenant_id: 'bigint',
    key: 'text',
  } satisfies ColumnsOf<{ tenant_id: number; key: string }>);
  expect(await describeColumns(database.url, db => syncBacklog(undefined).execute(db))).toEqual({
    tenant_id: 'bigint',
    key: 'text',
    count: 'bigint',
    oldest_at: 'timestamp with time zone',
  } satisfies ColumnsOf<{ tenant_id: number; key: string; count: number; oldest_at: string }>);
});
