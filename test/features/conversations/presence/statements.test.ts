import { afterAll, beforeAll, expect, test } from 'vitest';
import {
  forgetPresence,
  getPresences,
  listViewers,
  type SeenSession,
  storePresence,
  type ViewerRow,
} from '../../../../src/features/conversations/presence/presence.sql.ts';
import { createTestDatabase, type TestDatabase } from '../../../support/database.ts';
import { type ColumnsOf, describeColumns } from '../../../support/describe-statement.ts';

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.drop());

const SESSION = { staffId: 1, sessionId: 1 };
const SEEN = { conversation_id: 'bigint', is_typing: 'boolean' } satisfies ColumnsOf<SeenSession>;

test('what a session showed before is described as its row type says', async () => {
  const state = { isAway: false, conversationId: 1, isTyping: undefined };
  expect(await describeColumns(database.url, db => storePresence(db, 1, SESSION, state))).toEqual(SEEN);
  expect(await describeColumns(database.url, db => forgetPresence(db, 1, SESSION, 1))).toEqual(SEEN);
});

test('viewers and presences are described as their row types say', async () => {
  expect(await describeColumns(database.url, db => listViewers(db, 1, 1))).toEqual({
    staff_id: 'bigint',
    is_typing: 'boolean',
    lasts_ms: 'double precision',
  } satisfies ColumnsOf<ViewerRow>);
  expect(await describeColumns(database.url, db => getPresences(db, 1, [1]))).toEqual({
    staff_id: 'bigint',
    presence: 'text',
  });
});
