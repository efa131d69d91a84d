import { afterAll, beforeAll, expect, test } from 'vitest';
import {
  addCounts,
  getIdentified,
  type IdentifiedContact,
  listHolders,
  lockErasures,
  storeDigests,
} from '../../../../src/features/contacts/erasure/erasure.sql.ts';
import { SECTIONS, THREAD_SECTIONS } from '../../../../src/features/contacts/erasure/export.sql.ts';
import type { Holder } from '../../../../src/features/contacts/erasure/shared-number.ts';
import { createTestDatabase, type TestDatabase } from '../../../support/database.ts';
import { type ColumnsOf, describeColumns } from '../../../support/describe-statement.ts';

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.drop());

const ID = '01890000-0000-7000-8000-000000000000';

test('rows of identified contacts match their declared type', async () => {
  expect(await describeColumns(database.url, db => getIdentified(db, 1, [1]))).toMatchObject({
    id: 'bigint',
    numbers: 'text[]',
    user_ids: 'text[]',
    usernames: 'text[]',
    emails: 'text[]',
    former_ids: 'double precision[]',
  } satisfies Partial<ColumnsOf<IdentifiedContact>>);
});

test('rows of number holders match their declared type', async () => {
  expect(await describeColumns(database.url, db => listHolders(db, 1, [1]))).toEqual({
    number: 'text',
    contact_id: 'bigint',
    kind: 'text',
    from_ms: 'double precision',
    until_ms: 'double precision',
  } satisfies ColumnsOf<Holder>);
});

test('PostgreSQL accepts the statements for digests and counts', async () => {
  const identity = { digest: Buffer.alloc(32), erased_at: '2026-11-22T00:00:00.000Z', opted_out: ['all'] };
  expect(
    await describeColumns(database.url, db => storeDigests(db, 1, [identity], identity.erased_at)),
  ).toBeUndefined();
  const count = { id: ID, list: 'erased', kind: 'message', count: 1 } as const;
  expect(await describeColumns(database.url, db => addCounts(db, 1, [count]))).toBeUndefined();
});

test.each([...SECTIONS, ...THREAD_SECTIONS].map(section => [section.name, section] as const))(
  'the first and next page of the export section %s return JSON rows',
  async (_name, section) => {
    const person = {
      contactId: 1,
      contactIds: [1],
      phoneKeys: ['1'],
      shopKeys: [{ person: 'contact:1', since: '-infinity', until: 'infinity' }],
    };
    for (const after of [null, ID]) {
      const columns = await describeColumns(database.url, db => section.page(db, 1, person, after, 10));
      expect(columns).toEqual({ row: 'jsonb' });
    }
  },
);

test.each(['shared', 'exclusive'] as const)('the %s lock of erasures is a valid statement', async mode => {
  expect(Object.keys((await describeColumns(database.url, db => lockErasures(db, 1, mode))) ?? {})).toHaveLength(1);
});
