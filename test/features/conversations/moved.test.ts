import { sql } from 'kysely';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { lockOrInsertConversations } from '../../../src/features/conversations/state.sql.ts';
import { openTestDatabase } from '../../support/database.ts';

let opened: Awaited<ReturnType<typeof openTestDatabase>>;
beforeAll(async () => {
  opened = await openTestDatabase({ poolSize: 2 });
});
afterAll(() => opened.close());

test('a message does not go to a conversation that became another contact’s while it waited', async () => {
  const { db, database } = opened;
  await db.transaction(async trx => {
    // The tenant and the channel are not needed.
    await sql`set local session_replication_role = replica`.execute(trx);
    await sql`insert into contacts (tenant_id, id, email) overriding system value values (1, 1, 'a@example.com'), (1, 2, 'b@example.com')`.execute(
      trx,
    );
    await sql`insert into conversations (tenant_id, id, contact_id, channel_id) overriding system value values (1, 100, 1, 1)`.execute(
      trx,
    );
  });
  const moving = Promise.withResolvers<void>();
  const waiting = Promise.withResolvers<void>();
  // As undoing a merge does.
  const move = db.transaction(async trx => {
    await sql`select from contacts where tenant_id = 1 order by id for update`.execute(trx);
    await sql`update conversations set contact_id = 2 where tenant_id = 1 and id = 100`.execute(trx);
    moving.resolve();
    await waiting.promise;
  });
  await moving.promise;
  const locked = db.transaction(async trx => {
    await sql`set local session_replication_role = replica`.execute(trx);
    return await lockOrInsertConversations(trx, 1, [{ contactId: 1, channelId: 1, status: 'open' }], '2026-11-01');
  });
  try {
    await expect
      .poll(
        () =>
          database.query(
            "select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'",
          ),
        { timeout: 20_000 },
      )
      .toHaveLength(1);
  } finally {
    waiting.resolve();
  }
  await move;
  expect(await locked).toEqual([expect.objectContaining({ contact_id: 1, is_new: true })]);
});
