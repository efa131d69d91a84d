import { afterAll, beforeAll, expect, test } from 'vitest';
import { insertEntries, latestEntries } from '../../../src/features/contacts/consent/consent.sql.ts';
import type { PublicConsentEntry } from '../../../src/features/contacts/consent/consent.ts';
import { FIELD_COLUMNS, FIELDS, type FieldColumn, type PublicContact } from '../../../src/features/contacts/contact.ts';
import {
  addToGroups,
  deleteContacts,
  findReferences,
  insertContacts,
  insertPersons,
  lockReferences,
  type References,
  setGroups,
} from '../../../src/features/contacts/contacts.sql.ts';
import type { LabelKind, LabelRow } from '../../../src/features/contacts/labels/label.ts';
import { insertLabels, lockGroupsByName } from '../../../src/features/contacts/labels/labels.sql.ts';
import { findNumberHolders } from '../../../src/features/contacts/store.ts';
import { createTestDatabase, type TestDatabase } from '../../support/database.ts';
import { type ColumnsOf, describeColumns } from '../../support/describe-statement.ts';

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.drop());

const CONTACT = {
  id: 'bigint',
  ...Object.fromEntries(FIELD_COLUMNS.map(column => [column, FIELDS[column].type])),
  opted_out_at: 'timestamp with time zone',
  created_at: 'timestamp with time zone',
  updated_at: 'timestamp with time zone',
} satisfies Omit<ColumnsOf<PublicContact>, FieldColumn>;

test.each([
  ['inserted', insertContacts],
  ['inserted beyond the plan', insertPersons],
])('%s contacts are described as their row type says', async (_name, insert) => {
  expect(await describeColumns(database.url, db => insert(db, 1, [{ phone: '+491511234567' }]))).toEqual(CONTACT);
});

test('rows of deleted contacts match their declared type', async () => {
  expect(await describeColumns(database.url, db => deleteContacts(db, 1, [1]))).toEqual(CONTACT);
});

test('holders of numbers are described by number and contact', async () => {
  expect(await describeColumns(database.url, db => findNumberHolders(db, 1, ['491511234567']))).toEqual({
    number: 'text',
    contact_id: 'bigint',
  });
});

test('rows of changed memberships match their declared type', async () => {
  expect(await describeColumns(database.url, db => setGroups(db, 1, 1, [1]))).toEqual({ group_id: 'bigint' });
  await describeColumns(database.url, db => addToGroups(db, 1, [{ contactId: 1, groupId: 1 }]));
});

test.each([
  ['found', findReferences],
  ['locked', lockReferences],
])('%s references are described as their row type says', async (_name, find) => {
  const wanted = { sources: [1], statuses: [1], staff: [1], groups: [1] };
  expect(await describeColumns(database.url, db => find(db, 1, wanted))).toEqual({
    sources: 'bigint[]',
    statuses: 'bigint[]',
    staff: 'bigint[]',
    groups: 'bigint[]',
  } satisfies ColumnsOf<References>);
});

const LABEL = {
  id: 'bigint',
  name: 'text',
  created_at: 'timestamp with time zone',
  updated_at: 'timestamp with time zone',
} satisfies ColumnsOf<Omit<LabelRow, 'color'>>;

test.each<[LabelKind, object]>([
  ['group', LABEL],
  ['source', LABEL],
  ['status', { ...LABEL, color: 'text' }],
])('an inserted %s is described as its row type says', async (kind, columns) => {
  expect(await describeColumns(database.url, db => insertLabels(db, 1, kind, [{ name: 'a' }]))).toEqual(columns);
});

test('rows of groups locked by name match their declared type', async () => {
  expect(await describeColumns(database.url, db => lockGroupsByName(db, 1, ['a']))).toEqual({
    id: 'bigint',
    position: 'integer',
  });
});

test('rows of the latest consent entries match their declared type', async () => {
  expect(await describeColumns(database.url, db => latestEntries(db, 1, [1]))).toEqual({
    contact_id: 'bigint',
    category: 'text',
    id: 'bigint',
    state: 'text',
    occurred_at: 'timestamp with time zone',
  });
});

test('rows of inserted consent entries match their declared type', async () => {
  const entry = { contactId: 1, category: 'all', state: 'opted_out', source: 'api' } as const;
  const occurredAt = '2026-11-22T00:00:00.000Z';
  expect(await describeColumns(database.url, db => insertEntries(db, 1, [{ ...entry, occurredAt }]))).toEqual({
    id: 'bigint',
    contact_id: 'bigint',
    category: 'text',
    state: 'text',
    source: 'text',
    evidence: 'text',
    occurred_at: 'timestamp with time zone',
  } satisfies ColumnsOf<PublicConsentEntry & { readonly contact_id: number }>);
});
