import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Db } from '../../src/database/database.ts';
import { type ListDefinition, listStatement, readPage } from '../../src/database/list.ts';
import type { LabelRow } from '../../src/features/contacts/labels/label.ts';
import { listLabels } from '../../src/features/contacts/labels/store.ts';
import { listContacts } from '../../src/features/contacts/page.sql.ts';
import { DOCUMENT_COLUMNS, type DocumentRow } from '../../src/features/documents/store.ts';
import type { IntegrationRow } from '../../src/features/integrations/integration.ts';
import { listIntegrations } from '../../src/features/integrations/integrations.sql.ts';
import { MESSAGE_COLUMNS, type PublicMessage } from '../../src/features/messages/message.ts';
import { listMessages } from '../../src/features/messages/messages.sql.ts';
import { TEMPLATE_COLUMNS, type TemplateRow } from '../../src/features/templates/template.ts';
import type { Selection } from '../../src/schema/selection.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { type ColumnsOf, describeColumns } from '../support/describe-statement.ts';

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.drop());

/** A list of a table, by id. */
function listOf(table: string, alias: string, type: 'bigint' | 'uuid' = 'bigint'): ListDefinition {
  const id = { sql: `${alias}.id`, type };
  return {
    from: `${table} ${alias}`,
    tenantColumn: `${alias}.tenant_id`,
    filters: {},
    sorts: { id },
    id,
    defaultOrder: [{ column: id, descending: false }],
  };
}

/** The first page of a table, by id. */
const pageOf = (...list: Parameters<typeof listOf>) => listStatement(listOf(...list), 1, {});

const NONE: Selection = new Map();
const TIMES = {
  created_at: 'timestamp with time zone',
  updated_at: 'timestamp with time zone',
} as const;

test('a page of messages is described as its row type says, with the value of its cursor', async () => {
  const page = pageOf('messages', 'm', 'uuid');
  expect(await describeColumns(database.url, db => listMessages(db, page, MESSAGE_COLUMNS, true))).toEqual({
    id: 'uuid',
    conversation_id: 'bigint',
    contact_id: 'bigint',
    channel_id: 'bigint',
    direction: 'text',
    type: 'text',
    body: 'text',
    content: 'jsonb',
    status: 'text',
    error: 'jsonb',
    wamid: 'text',
    reply_to_wamid: 'text',
    sent_at: 'timestamp with time zone',
    delivered_at: 'timestamp with time zone',
    read_at: 'timestamp with time zone',
    failed_at: 'timestamp with time zone',
    ...TIMES,
    author: 'jsonb',
    template_id: 'bigint',
    echo_id: 'text',
    retry_of: 'uuid',
    window_expires_at: 'timestamp with time zone',
    k0: 'uuid',
  } satisfies ColumnsOf<PublicMessage & { readonly window_expires_at: string; readonly k0: string }>);
  expect(await describeColumns(database.url, db => listMessages(db, page, ['body'], false))).toEqual({
    body: 'text',
    k0: 'uuid',
  });
});

test('a page of contacts is one row of JSON, with related rows beside it', async () => {
  const below: Selection = new Map([['name', NONE]]);
  const selection: Selection = new Map([
    ['firstName', NONE],
    ['serviceWindow', NONE],
    ['source', below],
    ['status', below],
    ['assignee', below],
    ['groups', below],
  ]);
  const page = pageOf('contacts', 'c');
  for (const withCursors of [true, false])
    expect(await describeColumns(database.url, db => listContacts(db, page, selection, withCursors))).toEqual({
      page: 'json',
      source: 'json',
      status: 'json',
      assignee: 'json',
      groups: 'json',
    });
});

test('a page of templates is described as its row type says', async () => {
  const columns = TEMPLATE_COLUMNS.map(column => `t.${column}` as const);
  const read = (db: Db) => readPage<TemplateRow>(db, listOf('templates', 't'), 1, {}, columns);
  expect(await describeColumns(database.url, read)).toEqual({
    id: 'bigint',
    waba_id: 'text',
    network_id: 'text',
    name: 'text',
    language: 'text',
    category: 'text',
    status: 'text',
    status_reason: 'text',
    parameter_format: 'text',
    quality: 'text',
    components: 'jsonb',
    ...TIMES,
    k0: 'bigint',
  } satisfies ColumnsOf<TemplateRow & { readonly k0: number }>);
});

test('a page of labels is described as its row type says', async () => {
  const columns = ['id', 'name', 'color', 'created_at', 'updated_at'] as const;
  expect(await describeColumns(database.url, db => listLabels(db, columns, pageOf('statuses', 'l')))).toEqual({
    id: 'bigint',
    name: 'text',
    color: 'text',
    ...TIMES,
    k0: 'bigint',
  } satisfies ColumnsOf<LabelRow & { readonly k0: number }>);
});

test('a page of integrations is described as its row type says', async () => {
  expect(await describeColumns(database.url, db => listIntegrations(db, pageOf('integrations', 'i')))).toEqual({
    id: 'bigint',
    kind: 'text',
    name: 'text',
    key: 'text',
    is_enabled: 'boolean',
    default_country: 'text',
    topic_path: 'text',
    has_secret: 'boolean',
    previous_secret_until: 'timestamp with time zone',
    ...TIMES,
    mappings: 'jsonb',
    k0: 'bigint',
  } satisfies ColumnsOf<IntegrationRow & { readonly k0: number }>);
});

test('a page of trusted documents is described as its row type says', async () => {
  const columns = DOCUMENT_COLUMNS.map(column => `d.${column}` as const);
  const read = (db: Db) => readPage<DocumentRow>(db, listOf('trusted_documents', 'd'), 1, {}, columns);
  expect(await describeColumns(database.url, read)).toEqual({
    id: 'bigint',
    hash: 'bytea',
    name: 'text',
    body: 'text',
    last_used_at: 'timestamp with time zone',
    created_at: 'timestamp with time zone',
    k0: 'bigint',
  } satisfies ColumnsOf<DocumentRow & { readonly k0: number }>);
});
