import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { erasePayloads, notePeople } from '../../../src/features/integrations/intake/people.sql.ts';
import type { IntegrationRow } from '../../../src/features/integrations/integration.ts';
import { getIntegrations, getMappings, setMappingGroups } from '../../../src/features/integrations/integrations.sql.ts';
import { type ClaimedActRow, claimAct } from '../../../src/features/integrations/orders/acts.sql.ts';
import { settleDelivery } from '../../../src/features/integrations/orders/deliveries.sql.ts';
import { createTestDatabase, type TestDatabase } from '../../support/database.ts';
import { type ColumnsOf, describeColumns, describeStatements } from '../../support/describe-statement.ts';

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.drop());

const NOW = '2026-11-22T12:00:00.000Z';
const ID = randomUUID();

test('integrations are described as their row type says', async () => {
  expect(await describeColumns(database.url, db => getIntegrations(db, 1, [1]))).toEqual({
    id: 'bigint',
    kind: 'text',
    name: 'text',
    key: 'text',
    is_enabled: 'boolean',
    default_country: 'text',
    topic_path: 'text',
    has_secret: 'boolean',
    previous_secret_until: 'timestamp with time zone',
    created_at: 'timestamp with time zone',
    updated_at: 'timestamp with time zone',
    mappings: 'jsonb',
  } satisfies ColumnsOf<IntegrationRow>);
});

test('mappings are one JSON value each', async () => {
  expect(await describeColumns(database.url, db => getMappings(db, 1, [1]))).toEqual({ mapping: 'jsonb' });
});

test('claimed acts are described as their row type says', async () => {
  const key = { integrationId: 1, mappingId: 1, orderId: '1', status: '' };
  const act = { state: 'done', delivery_id: ID, contact_id: null, message_id: null, age_ms: 0, is_new: false };
  const [statement] = await describeStatements(database.url, db => claimAct(db, 1, key, ID), [[act]]);
  expect(statement?.columns).toEqual({
    state: 'text',
    delivery_id: 'uuid',
    contact_id: 'bigint',
    message_id: 'uuid',
    age_ms: 'double precision',
    is_new: 'boolean',
  } satisfies ColumnsOf<ClaimedActRow>);
});

test('the other statements are accepted by the database', async () => {
  const settled = { topic: '', orderId: null, orderStatus: null, results: [], reason: null, people: [] };
  expect(await describeColumns(database.url, db => settleDelivery(db, 1, ID, ID, 'acted', settled, NOW))).toEqual({
    id: 'uuid',
  });
  expect(await describeColumns(database.url, db => setMappingGroups(db, 1, 1, []))).toBeUndefined();
  expect(await describeColumns(database.url, db => notePeople(db, 1, ID, []))).toBeUndefined();
  expect(await describeColumns(database.url, db => erasePayloads(db, 1, [], NOW))).toBeUndefined();
});
