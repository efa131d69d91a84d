import { afterAll, beforeAll, expect, test } from 'vitest';
import type { ExportJob } from '../../../../src/features/contacts/exports/export.ts';
import {
  complete,
  dueExportLanes,
  type EndedExport,
  type EndedFile,
  endExpired,
  endExportsOf,
  exportBacklog,
  fail,
  hasErased,
  startNext,
} from '../../../../src/features/contacts/exports/exports.sql.ts';
import { readContacts } from '../../../../src/features/contacts/exports/pages.sql.ts';
import { examineMessages } from '../../../../src/features/messages/export-page.sql.ts';
import { createTestDatabase, type TestDatabase } from '../../../support/database.ts';
import { type ColumnsOf, describeColumns } from '../../../support/describe-statement.ts';

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.drop());

const ID = '01890000-0000-7000-8000-000000000000';

test('a started export is described as its row type says', async () => {
  expect(await describeColumns(database.url, db => startNext(db, 1))).toEqual({
    id: 'uuid',
    resource: 'text',
    file_type: 'text',
    contact_id: 'bigint',
    author: 'jsonb',
    filter: 'jsonb',
    attempts: 'integer',
  } satisfies ColumnsOf<ExportJob>);
});

test('ends of exports are understood by the database', async () => {
  const file = { rowCount: 1, storageKey: 'x', size: 1, sha256: Buffer.alloc(32), keepMs: 1 };
  expect(await describeColumns(database.url, db => complete(db, 1, ID, file))).toBeUndefined();
  expect(await describeColumns(database.url, db => fail(db, 1, ID, 'x'))).toEqual({ id: 'uuid' });
  expect(await describeColumns(database.url, db => hasErased(db, 1, ID))).toEqual({});
  expect(await describeColumns(database.url, db => endExportsOf(db, 1, [1]))).toEqual({
    storage_key: 'text',
    contact_ids: 'double precision[]',
  } satisfies ColumnsOf<EndedExport>);
  expect(await describeColumns(database.url, db => endExpired(db, 1))).toEqual({
    tenant_id: 'bigint',
    storage_key: 'text',
  } satisfies ColumnsOf<EndedFile>);
});

test('lanes of exports are described with tenant and key', async () => {
  const execute = (query: typeof dueExportLanes) => describeColumns(database.url, db => query.execute(db));
  expect(await execute(dueExportLanes)).toEqual({ tenant_id: 'bigint', key: 'text' });
  expect(await execute(exportBacklog(undefined))).toEqual({
    ...{ tenant_id: 'bigint', key: 'text', count: 'bigint', oldest_at: 'timestamp with time zone' },
  });
});

test('the pages of exports are described as their row types', async () => {
  expect(await describeColumns(database.url, db => readContacts(db, 1, {}, null, 1))).toEqual({
    last: 'text',
    size: 'bigint',
    rows: 'json',
  });
  expect(await describeColumns(database.url, db => examineMessages(db, 1, {}, null, 1))).toEqual({
    last: 'uuid',
    size: 'bigint',
    ids: 'uuid[]',
  });
});
