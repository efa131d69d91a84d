import { afterAll, beforeAll, expect, test } from 'vitest';
import { SEALED_COLUMNS } from '../../src/database/sealed-values.sql.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.drop());

/** Bytes that are no secrets: hashes, MACs and bodies. A new bytea column belongs here or into SEALED_COLUMNS. */
const NOT_SEALED = [
  'access_tokens.hash',
  'channels.verify_token_hash',
  'erased_identities.digest',
  'erasure_receipts.signature',
  'erasure_receipts.subject_digest',
  'idempotency_keys.fingerprint',
  'inbound_webhooks.body',
  'inbound_webhooks.digest',
  'integration_deliveries.body',
  'integration_deliveries.dedupe_key',
  'exports.sha256',
  'media_contents.sha256',
  'media_files.expected_sha256',
  'media_files.sha256',
  'media_released.sha256',
  'otps.mac',
  'staff_sessions.hash',
  'media_thumbnails.sha256',
  'trusted_documents.hash',
  'unrouted_changes.digest',
  'unrouted_changes.raw',
  'unrouted_changes.secret_mac',
  'webhook_endpoints.subscription',
];

test('every bytea column is listed as sealed (for key rotation) or as not secret', async () => {
  const columns = await database.query<{ name: string }>(
    `select c.relname || '.' || a.attname as name from pg_attribute a join pg_class c on c.oid = a.attrelid
     where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p') and not c.relispartition
       and a.atttypid = 'bytea'::regtype and not a.attisdropped`,
  );
  const sealed = SEALED_COLUMNS.flatMap(({ table, columns: names }) => names.map(name => `${table}.${name}`));
  expect(columns.map(({ name }) => name).sort()).toEqual(
    [...sealed, ...NOT_SEALED, 'deployment.digest_key_sealed'].sort(),
  );
});
