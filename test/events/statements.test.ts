import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Db } from '../../src/database/database.ts';
import { writeBlanked } from '../../src/events/erase.sql.ts';
import { FACET_NAMES } from '../../src/events/facets.sql.ts';
import {
  findOldestWriter,
  findOwner,
  type Mark,
  readMark,
  type TransactionOwner,
} from '../../src/events/horizon.sql.ts';
import {
  countTenant,
  type EventRow,
  insertEvents,
  type ReadRow,
  readAll,
  readEvents,
  readSubjects,
  readTenant,
  type SubjectRow,
} from '../../src/events/log.sql.ts';
import {
  type OriginFacts,
  readCluster,
  readOrigin,
  startedFromBackup,
  touchOrigin,
  writeFault,
  writeOrigin,
} from '../../src/events/origin.sql.ts';
import { findNextRange, type RangeRow } from '../../src/events/readers.sql.ts';
import { expireCursors, lockLog, renumberEvents, renumberReaders } from '../../src/events/restore.sql.ts';
import { deleteOldest, type RetentionRow, readRetention } from '../../src/events/retention.sql.ts';
import {
  blankSetAside,
  findOtherEvent,
  listSetAside,
  type PositionRow,
  type ReaderStatusRow,
  readReaderStatus,
  type SetAsideKey,
  type SetAsideRow,
  storeSetAside,
} from '../../src/events/set-aside.sql.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { type ColumnsOf, describeColumns, describeStatements } from '../support/describe-statement.ts';

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.drop());

const START = { xid: 0n, seq: 0 };
const AT = '2026-11-22T12:00:00.000Z';

const EVENT = {
  tenant_id: 'bigint',
  id: 'uuid',
  xid: 'text',
  seq: 'bigint',
  type: 'text',
  contact_id: 'bigint',
  conversation_id: 'bigint',
  payload: 'jsonb',
  occurred_at: 'timestamp with time zone',
} satisfies ColumnsOf<EventRow> & ColumnsOf<ReadRow>;

test('event rows match their declared type, for one and for all tenants', async () => {
  const wanted = { tenants: [], types: [] };
  expect(await describeColumns(database.url, db => readAll(db, START, START, 10, wanted))).toEqual(EVENT);
  const facets = FACET_NAMES.map(name => ({ name, ids: new Set(['1', null]) }));
  for (const selected of [[], facets]) {
    const selection = { types: [], facets: selected, after: START, before: START };
    expect(await describeColumns(database.url, db => readTenant(db, 1, selection, 10))).toEqual(EVENT);
    expect(await describeColumns(database.url, db => countTenant(db, 1, selection))).toEqual({ count: 'integer' });
  }
  expect(await describeColumns(database.url, db => readEvents(db, 1, []))).toEqual(EVENT);
  expect(await describeColumns(database.url, db => readSubjects(db, 1, new Map(), START, START, 10))).toEqual({
    xid: 'text',
    seq: 'bigint',
    type: 'text',
    subject: 'text',
    former_id: 'text',
  } satisfies ColumnsOf<SubjectRow>);
});

test('horizon rows match their declared types', async () => {
  const mark = { xmax: '1', seq: 0, xip: [], oldest: null, is_quiet: true };
  const [statement] = await describeStatements(database.url, db => readMark(db, 0), [[mark]]);
  expect(statement?.columns).toEqual({
    xmax: 'text',
    seq: 'bigint',
    xip: 'text[]',
    oldest: 'text',
    is_quiet: 'boolean',
  } satisfies ColumnsOf<Mark>);
  expect(await describeColumns(database.url, db => findOldestWriter(db, []))).toEqual({ x: 'text' });
  expect(await describeColumns(database.url, db => findOwner(db, '1'))).toEqual({
    pid: 'integer',
    application: 'text',
    // PostgreSQL's type `name`, which the driver returns as text.
    user: 'name',
    state: 'text',
    prepared_as: 'text',
  } satisfies Record<keyof TransactionOwner, string>);
});

test('the row of a reader’s next range matches its declared type', async () => {
  expect(await describeColumns(database.url, db => findNextRange(db, START, START, 10))).toEqual({
    xid: 'text',
    seq: 'bigint',
    count: 'bigint',
  } satisfies ColumnsOf<RangeRow>);
});

test('retention rows match their declared type', async () => {
  expect(await describeColumns(database.url, db => readRetention(db))).toEqual({
    xid: 'text',
    seq: 'bigint',
    instant_ms: 'double precision',
    end_xid: 'text',
  } satisfies ColumnsOf<RetentionRow>);
  const now = '2026-11-22T12:00:00.000Z';
  expect(await describeColumns(database.url, db => deleteOldest(db, now, 10, START, []))).toEqual({ count: 'integer' });
});

test('origin rows match their declared type', async () => {
  const facts = { is_known: true };
  const described = await describeStatements(database.url, db => readOrigin(db), [[], [], [facts]]);
  expect(described.at(-1)?.columns).toEqual({
    is_known: 'boolean',
    generation: 'integer',
    fault: 'text',
    seen_at: 'timestamp with time zone',
    is_original: 'boolean',
    is_same_database: 'boolean',
    is_same_system: 'boolean',
    is_same_version: 'boolean',
    is_same_timeline: 'boolean',
    has_future_positions: 'boolean',
    has_recovery_target: 'boolean',
    may_stat_files: 'boolean',
  } satisfies ColumnsOf<OriginFacts>);
});

test('the identity of the cluster is described by one column each', async () => {
  const [system, timeline] = await describeStatements(database.url, readCluster);
  expect(system?.columns).toEqual({ id: 'text' });
  expect(timeline?.columns).toEqual({ id: 'integer' });
  expect(await describeColumns(database.url, startedFromBackup)).toEqual({ began: 'boolean' });
});

test('PostgreSQL accepts the remaining statements', async () => {
  expect(await describeColumns(database.url, db => writeOrigin(db, { system: null, timeline: null }))).toBeUndefined();
  expect(await describeColumns(database.url, db => touchOrigin(db, 1))).toBeUndefined();
  expect(await describeColumns(database.url, db => writeFault(db, ''))).toBeUndefined();
  const id = '019b7a2e-5f5c-7d1e-9a44-0c6f7a1f3b52';
  const event = { tenantId: 1, id, type: 'group.deleted', payload: {}, contactId: null, conversationId: null } as const;
  expect(await describeColumns(database.url, db => insertEvents(db, [event]))).toBeUndefined();
  expect(await describeColumns(database.url, db => writeBlanked(db, 1, [], AT))).toBeUndefined();
  expect(await describeStatements(database.url, lockLog)).toHaveLength(4);
  expect(await describeColumns(database.url, db => renumberReaders(db))).toBeUndefined();
  expect(await describeColumns(database.url, db => expireCursors(db))).toBeUndefined();
  expect(Object.keys((await describeColumns(database.url, db => renumberEvents(db, START, 0, 10))) ?? {})).toEqual([
    'xid',
    'seq',
    'count',
  ]);
});

test('rows of events that are set aside, and of the status of readers, match their declared types', async () => {
  const key = { tenant_id: 'bigint', event_id: 'uuid', reader: 'text' } satisfies ColumnsOf<SetAsideKey>;
  const stored = (db: Db) => storeSetAside(db, 'bots', { after: START, until: START }, 'an error');
  expect(await describeColumns(database.url, stored)).toEqual(key);
  const other = (db: Db) => findOtherEvent(db, START, 1);
  expect(await describeColumns(database.url, other)).toEqual({
    xid: 'text',
    seq: 'bigint',
  } satisfies ColumnsOf<PositionRow>);
  expect(await describeColumns(database.url, listSetAside)).toEqual({
    ...key,
    set_aside_at: 'timestamp with time zone',
    type: 'text',
    error: 'text',
  } satisfies ColumnsOf<SetAsideRow>);
  expect(await describeColumns(database.url, readReaderStatus)).toEqual({
    name: 'text',
    lag_seconds: 'double precision',
    set_aside: 'integer',
  } satisfies ColumnsOf<ReaderStatusRow>);
});

test('an erasure blanks the errors of its events that are set aside', async () => {
  const [statement] = await describeStatements(database.url, db => blankSetAside(db, 1, []));
  expect(statement?.columns).toBeUndefined();
});
