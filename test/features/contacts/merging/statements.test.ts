import { afterAll, beforeAll, expect, test } from 'vitest';
import {
  deleteMerged,
  type Fold,
  type FullContact,
  foldConversations,
  giveTurns,
  type LockedContact,
  lockForMerge,
  lockOutbox,
  moveRows,
} from '../../../../src/features/contacts/merging/merge.sql.ts';
import {
  alignRows,
  deleteMergeSnapshots,
  keepWaiting,
  restoreContact,
  returnRows,
  setUndone,
} from '../../../../src/features/contacts/merging/undo.sql.ts';
import {
  type IdentitiesBefore,
  numberBefore,
  recordIdentities,
  separateIdentities,
} from '../../../../src/features/contacts/merging/undo-identities.sql.ts';
import { removeConversations } from '../../../../src/features/tenancy/usage/usage.sql.ts';
import { createTestDatabase, type TestDatabase } from '../../../support/database.ts';
import { type ColumnsOf, describeStatements } from '../../../support/describe-statement.ts';

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.drop());

const NUMBER = { phone: '+491511234567', phone_key: '491511234567' };
const BEFORE: IdentitiesBefore = { ...NUMBER, identities: [] };
const MERGE = { mergeId: 1, survivorId: 1, formerId: 2 };

test('rows of contacts locked for a merge match their declared type', async () => {
  const described = await describeStatements(database.url, db => lockForMerge(db, 1, [1]));
  expect(described.at(-1)?.columns).toEqual({
    id: 'bigint',
    contact: 'jsonb',
    weight: 'integer',
  } satisfies ColumnsOf<LockedContact>);
});

test('rows of folded conversations match their declared type', async () => {
  const merge = { ...MERGE, month: '2026-11-01' };
  const [folded] = await describeStatements(database.url, db => foldConversations(db, 1, merge));
  expect(folded?.columns).toEqual({
    former: 'bigint',
    kept: 'bigint',
    is_counted_twice: 'boolean',
  } satisfies ColumnsOf<Fold>);
});

test('PostgreSQL accepts every statement of a merge and its undo', async () => {
  const described = await describeStatements(database.url, async db => {
    await moveRows(db, 1, MERGE);
    await returnRows(db, 1, MERGE);
    await keepWaiting(db, 1, MERGE);
    await alignRows(db, 1, MERGE);
    await setUndone(db, 1, 1, '2026-11-22T00:00:00.000Z');
    await lockOutbox(db, 1, [1]);
    await giveTurns(db, 1, [1]);
    await deleteMerged(db, 1, 1);
    await removeConversations(db, 1, '2026-11-01', 1);
    await recordIdentities(db, 1, MERGE, NUMBER);
    await separateIdentities(db, 1, MERGE, NUMBER, BEFORE);
  });
  expect(described.length).toBeGreaterThan(8);
});

test('the count of deleted merge snapshots matches its declared type', async () => {
  const [deleted] = await describeStatements(database.url, db =>
    deleteMergeSnapshots(db, '2026-11-22T00:00:00.000Z', 10),
  );
  expect(deleted?.columns).toEqual({ count: 'integer' });
});

test('a contact is restored by a valid statement, after its references are found', async () => {
  const references = { sources: [], statuses: [], staff: [], groups: [] };
  const contact = { id: 1, assigned_id: null } as unknown as FullContact;
  const described = await describeStatements(database.url, db => restoreContact(db, 1, contact), [[references]]);
  expect(described.at(-1)?.columns).toBeUndefined();
});

test('the number before a merge is described by whether it is free', async () => {
  const [free] = await describeStatements(database.url, db => numberBefore(db, 1, 1, BEFORE));
  expect(free?.columns).toEqual({ is_free: 'boolean' });
});
