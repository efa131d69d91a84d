import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { FileState } from '../../../../../../src/features/messages/content/media/file.ts';
import { getFileStates } from '../../../../../../src/features/messages/content/media/files.sql.ts';
import {
  type ContentKey,
  deleteUnreferenced,
  expireKept,
  keepContent,
  linkKnownContent,
} from '../../../../../../src/features/messages/content/media/keeping/contents.sql.ts';
import {
  countKeptOf,
  getTotals,
  type KeptFile,
  listKeptOfContact,
  type MediaTotals,
} from '../../../../../../src/features/messages/content/media/keeping/kept.sql.ts';
import {
  type ClaimedFile,
  claimFiles,
  dueMediaLanes,
  loseExpired,
  mediaBacklog,
  queueFiles,
} from '../../../../../../src/features/messages/content/media/keeping/queue.sql.ts';
import { insertThumbnail } from '../../../../../../src/features/messages/content/media/thumbnails/thumbnails.sql.ts';
import { createTestDatabase, type TestDatabase } from '../../../../../support/database.ts';
import { type ColumnsOf, describeColumns, describeStatements } from '../../../../../support/describe-statement.ts';

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.drop());

const [id, claim] = [randomUUID(), randomUUID()];
const sha256 = Buffer.alloc(32);

test('rows of the queue match their declared types', async () => {
  expect(await describeColumns(database.url, db => claimFiles(db, 1, 1, claim, 1, 1))).toEqual({
    id: 'uuid',
    network_media_id: 'text',
    expected_sha256: 'bytea',
    attempts: 'integer',
    lives_for_ms: 'double precision',
  } satisfies ColumnsOf<ClaimedFile>);
  const file = { id, channelId: 1, networkMediaId: '1', mimeType: null, sha256: null, livesForMs: 1 };
  expect(await describeColumns(database.url, db => queueFiles(db, 1, [file]))).toBeUndefined();
  expect(await describeColumns(database.url, db => loseExpired(db, 1))).toEqual({ id: 'uuid' });
  expect(await describeColumns(database.url, db => dueMediaLanes.execute(db))).toEqual({
    tenant_id: 'bigint',
    key: 'text',
  });
  expect(await describeColumns(database.url, db => mediaBacklog(undefined).execute(db))).toEqual({
    tenant_id: 'bigint',
    key: 'text',
    count: 'bigint',
    oldest_at: 'timestamp with time zone',
  });
});

test('rows of contents match their declared types', async () => {
  const file = { id, claim, mimeType: null, sha256, size: 1, storageKey: 'x' };
  const [, kept] = await describeStatements(database.url, db => keepContent(db, 1, file), [[{ storage_key: 'x' }]]);
  expect(kept?.columns).toBeUndefined();
  expect(await describeColumns(database.url, db => linkKnownContent(db, 1, id, claim))).toEqual({ id: 'uuid' });
  expect(await describeColumns(database.url, db => expireKept(db, 1, 1))).toEqual({ id: 'uuid' });
  const [released] = await describeStatements(database.url, db => deleteUnreferenced(db, 1), [
    [{ tenant_id: 1, sha256 }],
  ]);
  expect(released?.columns).toEqual({ tenant_id: 'bigint', sha256: 'bytea' } satisfies ColumnsOf<ContentKey>);
});

test('rows of kept files match their declared types', async () => {
  expect(await describeColumns(database.url, db => listKeptOfContact(db, 1, 1, null, 1))).toEqual({
    id: 'uuid',
    mime_type: 'text',
    size: 'bigint',
    sha256: 'text',
    storage_key: 'text',
  } satisfies ColumnsOf<KeptFile>);
  expect(await describeColumns(database.url, db => countKeptOf(db, 1, [1]))).toEqual({
    contact_id: 'bigint',
    count: 'bigint',
  });
  expect(await describeColumns(database.url, db => getTotals(db))).toEqual({
    files: 'bigint',
    bytes: 'bigint',
    waiting: 'bigint',
  } satisfies ColumnsOf<MediaTotals>);
});

test('states of files match their declared type', async () => {
  expect(await describeColumns(database.url, db => getFileStates(db, 1, [{ id, networkId: '1' }]))).toEqual({
    message_id: 'uuid',
    state: 'text',
    mime_type: 'text',
    size: 'bigint',
    sha256: 'text',
    upload_id: 'uuid',
    upload_filename: 'text',
    lives_for_ms: 'double precision',
  } satisfies ColumnsOf<FileState>);
});

test('a stored thumbnail is described by its width', async () => {
  const row = { storage_key: 'a', size: 1 };
  expect(await describeColumns(database.url, db => insertThumbnail(db, 1, sha256.toString('hex'), 320, row))).toEqual({
    width: 'smallint',
  });
});
