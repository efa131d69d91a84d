import { afterAll, beforeAll, expect, test } from 'vitest';
import type { ContactRow, PublicContact } from '../../../../src/features/contacts/contact.ts';
import {
  findShared,
  listExisting,
  loadPersons,
  type StoredPerson,
  updatePersons,
  writeIdentities,
} from '../../../../src/features/contacts/recognition/persons.sql.ts';
import { beginLocks, undoLocks } from '../../../../src/features/contacts/recognition/store.ts';
import { createTestDatabase, type TestDatabase } from '../../../support/database.ts';
import { type ColumnsOf, describeColumns, describeStatements } from '../../../support/describe-statement.ts';

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.drop());

test('rows of loaded persons match their declared type', async () => {
  const wanted = { userIds: [{ portfolio: '1', value: 'DE.1' }], waIds: ['1'], phoneKeys: ['1'], phones: ['+1'] };
  expect(await describeColumns(database.url, db => loadPersons(db, 1, wanted))).toEqual({
    id: 'bigint',
    phone: 'text',
    phone_key: 'text',
    is_nameless: 'boolean',
    weight: 'integer',
    identities: 'json',
    second_phones: 'json',
    apart: 'json',
  } satisfies ColumnsOf<StoredPerson>);
});

test('rows of updated persons match the type of contacts', async () => {
  const person = {
    id: 1,
    phone: null,
    phone_key: null,
    firstname: null,
    lastname: null,
    is_reported: true,
  };
  const columns = await describeColumns(database.url, db => updatePersons(db, 1, [person]));
  expect(columns).toMatchObject({ id: 'bigint', firstname: 'text', country_id: 'smallint' } satisfies Partial<
    ColumnsOf<Pick<ContactRow, keyof PublicContact>>
  >);
});

test('existing contacts are described', async () => {
  expect(await describeColumns(database.url, db => listExisting(db, 1, [1]))).toEqual({ id: 'bigint' });
});

test('rows of contacts that share a user id match their declared type', async () => {
  expect(await describeColumns(database.url, db => findShared(db, 1, 'a', 'b'))).toEqual({
    one: 'bigint',
    other: 'bigint',
  });
});

test('PostgreSQL accepts both writes of identities', async () => {
  const identity = { contact_id: 1, kind: 'wa_id', portfolio: '', value: '1', wa_id: null } as const;
  const times = { started_at: '2026-11-22T00:00:00.000Z', ended_at: null };
  const described = await describeStatements(database.url, db =>
    writeIdentities(db, 1, [
      { id: 1, ...identity, ...times },
      { id: null, ...identity, ...times },
    ]),
  );
  expect(described.map(({ columns }) => columns)).toEqual([undefined, undefined]);
});

test('savepoints are valid statements', async () => {
  for (const statement of [beginLocks, undoLocks])
    expect(await describeColumns(database.url, statement)).toBeUndefined();
});
