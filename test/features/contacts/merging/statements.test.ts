import { afterAll, beforeAll, expect, test } from 'vitest';
import {
  foldConversations,
  type LockedContact,
  lockForMerge,
  moveRows,
} from '../../../../src/features/contacts/merging/merge.sql.ts';
import {
  alignRows,
  deleteMergeSnapshots,
  returnRows,
  setUndone,
} from '../../../../src/features/contacts/merging/undo.sql.ts';
import { createTestDatabase, type TestDatabase } from '../../../support/database.ts';
import { type ColumnsOf, describeStatements } from '../../../support/describe-statement.ts';

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.drop());

const MERGE = { mergeId: 1, survivorId: 1, formerId: 2 };

test('contacts that are locked for a merge are described as their row type says', async () => {
  const described = await describeStatements(database.url, db => lockForMerge(db, 1, [1]));
  expect(described.at(-1)?.columns).toEqual({
    id: 'bigint',
    contact: 'jsonb',
    weight: 'integer',
  } satisfies ColumnsOf<LockedContact>);
});

test('folded conversations are described by their id and count', async () => {
  const merge = { ...MERGE, month: '2026-11-01' };
  const [folded] = await describeStatements(database.url, db => foldConversations(db, 1, merge));
  expect(folded?.columns).toEqual({ former: 'bigint', is_counted_twice: 'boolean' });
});

test('every statement of a merge and of its undo is understood by the database', async () => {
  const described = await describeStatements(database.url, async db => {
    await moveRows(db, 1, MERGE);
    await returnRows(db, 1, MERGE);
    await alignRows(db, 1, MERGE);
    await setUndone(db, 1, 1, '2026-11-22T00:00:00.000Z');
  });
  expect(described.length).toBeGreaterThan(8);
});

test('deleted snapshots are described by their number', async () => {
  const [deleted] = await describeStatements(database.url, db =>
    deleteMergeSnapshots(db, '2026-11-22T00:00:00.000Z', 10),
  );
  expect(deleted?.columns).toEqual({ count: 'integer' });
});
