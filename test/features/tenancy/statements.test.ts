import { afterAll, beforeAll, expect, test } from 'vitest';
import { getAccount, listAccounts } from '../../../src/features/tenancy/account/account.sql.ts';
import type { AccountRow } from '../../../src/features/tenancy/account/account.ts';
import {
  type BlankedPage,
  blankKeysHolding,
  blankKeysOf,
  lockKeysNaming,
} from '../../../src/features/tenancy/idempotency/keys.sql.ts';
import type { AccessTokenRow } from '../../../src/features/tenancy/tokens/store.ts';
import {
  endToken,
  type ScopeFinding,
  takeScopeFindings,
  writeLastUses,
} from '../../../src/features/tenancy/tokens/tokens.sql.ts';
import { addConversations, addSends } from '../../../src/features/tenancy/usage/usage.sql.ts';
import { createTestDatabase, type TestDatabase } from '../../support/database.ts';
import { type ColumnsOf, describeColumns } from '../../support/describe-statement.ts';

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.drop());

const MONTH = '2026-11-01';
const ACCOUNT = {
  id: 'bigint',
  slug: 'text',
  name: 'text',
  status: 'text',
  window_policy: 'text',
  keep_messages_days: 'integer',
  default_country: 'text',
  time_zone: 'text',
  opt_out_words: 'text[]',
  opt_in_words: 'text[]',
  opt_words_by_language: 'jsonb',
  default_source_id: 'bigint',
  default_status_id: 'bigint',
  default_assignee_id: 'bigint',
  created_at: 'timestamp with time zone',
  plan_id: 'bigint',
  plan_name: 'text',
  plan_expires_at: 'timestamp with time zone',
  calls_per_minute: 'integer',
  features: 'text[]',
  month: 'text',
  contacts: 'bigint',
  max_contacts: 'bigint',
  conversations: 'bigint',
  max_conversations: 'bigint',
  messages: 'bigint',
  max_messages: 'bigint',
  staff: 'bigint',
  max_staff: 'bigint',
  media_files: 'bigint',
  media_bytes: 'bigint',
} satisfies ColumnsOf<AccountRow>;

test('accounts are described as their row type says', async () => {
  expect(await describeColumns(database.url, db => getAccount(db, 1, MONTH))).toEqual(ACCOUNT);
  expect(await describeColumns(database.url, db => listAccounts(db, MONTH))).toEqual(ACCOUNT);
});

test('a revoked token is described as its row type says', async () => {
  expect(await describeColumns(database.url, db => endToken(db, 1, 1))).toEqual({
    id: 'bigint',
    name: 'text',
    hint: 'text',
    scopes: 'text[]',
    calls_per_minute: 'integer',
    expires_at: 'timestamp with time zone',
    revoked_at: 'timestamp with time zone',
    last_used_at: 'timestamp with time zone',
    documents_only: 'boolean',
    created_at: 'timestamp with time zone',
    is_new: 'boolean',
  } satisfies ColumnsOf<AccessTokenRow & { readonly is_new: boolean }>);
});

test('the uses of tokens are understood by the database', async () => {
  expect(await describeColumns(database.url, db => writeLastUses(db, [{ tenantId: 1, tokenId: 1 }]))).toBeUndefined();
});

test('findings about scopes are described as their row type says', async () => {
  expect(await describeColumns(database.url, takeScopeFindings)).toEqual({
    tenant: 'text',
    kind: 'text',
    object_id: 'bigint',
    name: 'text',
    scopes: 'text[]',
    tokens: 'text[]',
  } satisfies ColumnsOf<ScopeFinding>);
});

test('blanked keys are described as their row types say', async () => {
  expect(await describeColumns(database.url, db => blankKeysOf(db, 1, [1]))).toEqual({
    contact_id: 'bigint',
    count: 'integer',
  });
  expect(
    await describeColumns(database.url, db => blankKeysHolding(db, 1, { ids: ['1'], texts: ['a'] }, 10, '')),
  ).toEqual({ count: 'integer', after: 'text' } satisfies ColumnsOf<BlankedPage>);
});

test('keys that contain a number are described by page', async () => {
  expect(await describeColumns(database.url, db => lockKeysNaming(db, 1, ['1'], 10, ''))).toEqual({
    keys: 'json',
    after: 'text',
  });
});

test('the counters of a month are understood by the database', async () => {
  expect(await describeColumns(database.url, db => addConversations(db, 1, MONTH, 1))).toBeUndefined();
  expect(await describeColumns(database.url, db => addSends(db, 1, MONTH, 1, 1))).toBeUndefined();
});
