import { sql } from 'kysely';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Db } from '../../../src/database/database.ts';
import { lockConversations } from '../../../src/features/conversations/change.sql.ts';
import {
  conversationsOf,
  findPhoneAnswers,
  getConversations,
  lockOrInsertConversations,
} from '../../../src/features/conversations/state.sql.ts';
import { openTestDatabase } from '../../support/database.ts';
import { mostRowsRead, stopAutovacuum } from '../../support/rows-read.ts';

/** Tables without statistics, as after a restore. */

const CONTACTS = 20_000;
const TABLES = ['contacts', 'conversations', 'messages'];
const CHANNEL = 1;

/** Contacts with their conversations, which have the same ids, and a message of each. */
let messages: readonly { readonly id: string; readonly conversation_id: number }[];
const ids = Array.from({ length: 200 }, (_, n) => 50 * n + 1);

let opened: Awaited<ReturnType<typeof openTestDatabase>>;
beforeAll(async () => {
  opened = await openTestDatabase();
  const { database } = opened;
  await stopAutovacuum(database, TABLES);
  await opened.db.transaction(async trx => {
    // The tenant and the channel are not needed.
    await sql`set local session_replication_role = replica`.execute(trx);
    const numbers = sql`generate_series(1, ${sql.lit(CONTACTS)}) n`;
    await sql`insert into contacts (tenant_id, id, email) overriding system value select 1, n, n || '@example.com' from ${numbers}`.execute(
      trx,
    );
    await sql`insert into conversations (tenant_id, id, contact_id, channel_id) overriding system value select 1, n, n, ${sql.lit(CHANNEL)} from ${numbers}`.execute(
      trx,
    );
    await sql`
      insert into messages (tenant_id, id, conversation_id, contact_id, channel_id, direction, type, body)
      select 1, uuid_v7(now(), n), n, n, ${sql.lit(CHANNEL)}, 'outbound', 'text', '' from ${numbers}`.execute(trx);
  });
  messages = await database.query(
    'select id, conversation_id::int from messages where conversation_id = any($1) order by conversation_id',
    [ids],
  );
});
afterAll(() => opened.close());

test.each<[string, (trx: Db) => Promise<unknown>]>([
  ['conversations that are locked', trx => lockConversations(trx, 1, ids)],
  ['conversations that are read', trx => getConversations(trx, 1, ids)],
  ['conversations of contacts', trx => conversationsOf(trx, 1, ids)],
  [
    'conversations that receive messages',
    trx =>
      lockOrInsertConversations(
        trx,
        1,
        ids.map(contactId => ({ contactId, channelId: CHANNEL, status: 'open' })),
        '2026-11-01',
      ),
  ],
  [
    'conversations with later answers',
    async trx => {
      const before = messages.map(message => ({ ...message, id: '00000000-0000-7000-8000-000000000000' }));
      expect(await findPhoneAnswers(trx, 1, messages)).toEqual(new Map());
      return [...(await findPhoneAnswers(trx, 1, before)).keys()].map(id => ({ id }));
    },
  ],
])('without statistics, %s are found by key', async (_what, work) => {
  const count = await mostRowsRead(opened.db, TABLES, async trx => {
    const rows = (await work(trx)) as readonly { readonly id: number }[];
    expect(rows.map(({ id }) => id).sort((one, other) => one - other)).toEqual(ids);
  });
  // Each with its contact, found and then locked.
  expect(count).toBeLessThanOrEqual(3 * ids.length);
});
