import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { TABLES } from './support/statements.ts';

/**
 * Tables that a folder writes although another one owns them, by `writer → table`, with the reason. All other tables are written by
 * one folder alone.
 */
const EXCEPTIONS: Readonly<Record<string, string>> = {
  'features/messages → contacts':
    'Accepting sends is one statement: contact, conversation, message, event and counters.',
  'features/messages → conversations':
    'As contacts: a message is folded into its conversation by the statement that stores it.',
  'features/messages → contact_groups': 'As contacts: groups given with a send.',
  'features/messages → events': 'As contacts: the events of accepted messages.',
  'features/messages → idempotency_keys': 'As contacts: the key is stored with the message that it stands for.',
  'features/messages → monthly_usage': 'As contacts: the counters of the plan.',
  'features/messages → tenant_usage': 'As contacts: the counters of the plan.',
  'features/contacts → tenant_usage': 'A contact is counted by the statement that stores or removes it.',
  'features/contacts → messages': 'A merge moves the rows of one contact to another, and its undo moves them back.',
  'features/contacts → conversations': 'As messages: a merge moves or joins them.',
  'features/contacts → conversation_tags': 'As messages: a merge joins them with their conversations.',
  'features/contacts → notes': 'As messages: a merge moves them with their conversations.',
  'features/contacts → thread_owners': 'As messages: a merge joins them with their conversations.',
  'features/contacts → outbox': 'As messages: undoing a merge returns waiting messages to their contact.',
  'features/contacts → integration_delivery_people': 'As messages: a merge moves them.',
  'features/contacts → events': 'A merge moves the index of events by contact; their payloads stay.',

  'features/webhooks → events': 'An attempt and its event are stored by one statement.',
  'features/otp → idempotency_keys':
    'A code that was not sent is deleted with its key, so that the request can be repeated.',
  'database → log_origin':
    'The outbox is held before the event log is opened, while a restored database is recognised.',
  'cli → staff': 'The demo tenant has fixed staff members.',
  'cli → conversations': 'The emulated clock of `parley dev` lets service windows end.',
};

/** Files whose statements take the name of the table from a list. */
const GENERIC: Readonly<Record<string, string>> = {
  'database/sealed-values.sql.ts': 'Encrypts every sealed column anew.',
  'database/tenant-rows.sql.ts': 'Deletes every row of a tenant.',
  'features/contacts/labels/labels.sql.ts': 'Groups, sources and statuses.',
  'features/contacts/labels/store.ts': 'Groups, sources and statuses.',
  'features/contacts/merging/merge.sql.ts': 'Every table that refers to a contact.',
  'features/contacts/merging/undo.sql.ts': 'Every table that refers to a contact.',
};

const WRITES =
  /\b(?:insert into|delete from|(?<!for (?:no key )?)update)\s+(?:only\s+)?("?\w+"?|\$\{)|\.(?:insertInto|updateTable|deleteFrom)\(\s*(['`]?\w+)/g;

interface Write {
  readonly folder: string;
  readonly path: string;
  /** Undefined if the statement takes it from a variable. */
  readonly table: string | undefined;
}

function* writesOf(path: string): Generator<Write> {
  const text = readFileSync(join('src', path), 'utf8').replace(/\/\*\*.*?\*\/|^ *\/\/[^\n]*/gms, '');
  const folder = /^features\/[^/]+|^[^/]+/.exec(path)?.[0] ?? path;
  for (const [, plain, built] of text.matchAll(WRITES)) {
    const table = (plain ?? built ?? '').replace(/^["'`]|"$/g, '');
    if (TABLES.has(table)) yield { folder, path, table };
    else if (plain === '${' || (built !== undefined && /^\w/.test(built))) yield { folder, path, table: undefined };
  }
}

const writes = readdirSync('src', { recursive: true, encoding: 'utf8' })
  .filter(path => path.endsWith('.ts') && !path.includes('.generated.') && !path.startsWith('dashboard/'))
  .flatMap(path => [...writesOf(path)]);

test('each table is written by one folder, apart from listed exceptions', () => {
  const folders = new Map<string, Set<string>>();
  for (const { table, folder } of writes) {
    if (table === undefined || `${folder} → ${table}` in EXCEPTIONS) continue;
    folders.set(table, (folders.get(table) ?? new Set()).add(folder));
  }
  expect(folders.size).toBeGreaterThan(50);
  expect([...folders].filter(([, { size }]) => size > 1)).toEqual([]);
});

test('each exception is still needed', () => {
  const pairs = new Set(writes.map(({ folder, table }) => `${folder} → ${table}`));
  expect(Object.keys(EXCEPTIONS).filter(pair => !pairs.has(pair))).toEqual([]);
});

test('only listed files write to tables whose names are variables', () => {
  const paths = new Set(writes.filter(({ table }) => table === undefined).map(({ path }) => path));
  expect([...paths].sort()).toEqual(Object.keys(GENERIC));
});
