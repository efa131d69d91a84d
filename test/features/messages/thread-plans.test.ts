import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Db } from '../../../src/database/database.ts';
import { readThread } from '../../../src/features/messages/thread.sql.ts';
import { openTestDatabase } from '../../support/database.ts';
import { stopAutovacuum } from '../../support/rows-read.ts';

const MESSAGES = 5_000;
const PAGE = 40;

let opened: Awaited<ReturnType<typeof openTestDatabase>>;
let ids: readonly string[];
beforeAll(async () => {
  opened = await openTestDatabase();
  const { database, db } = opened;
  await stopAutovacuum(database, ['messages', 'message_states']);
  await database.query('analyze messages, message_states');
  await db.transaction(async trx => {
    // The conversation is not needed.
    await sql`set local session_replication_role = replica`.execute(trx);
    await sql`
      with m as (
        insert into messages (tenant_id, id, conversation_id, contact_id, channel_id, direction, type, body, created_at)
        select 1, message_id_at(floor(extract(epoch from at) * 1000)::bigint, nextval('message_arrivals')), 1, 1, 1, 'inbound', 'text', '', at
        from (select now() - n * interval '1 second' as at from generate_series(1, ${MESSAGES}::integer) n) t
        returning tenant_id, id, created_at
      )
      insert into message_states (tenant_id, message_id, status, updated_at) select tenant_id, id, 'received', created_at from m`.execute(
      trx,
    );
  });
  ids = (await database.query<{ id: string }>('select id from messages order by id')).map(({ id }) => id);
});
afterAll(() => opened.close());

/** Entries of indexes, and rows of sequential scans, that this transaction has read of messages and their states. */
async function entriesRead(trx: Db): Promise<number> {
  const { rows } = await sql<{ read: number }>`
    select sum(pg_stat_get_xact_tuples_returned(oid))::int as read from pg_class
    where relkind in ('r', 'i') and relname ~ '^message(s|_states)_'`.execute(trx);
  return rows[0]?.read ?? 0;
}

describe.each(['of empty tables', 'of these rows'])('with statistics %s', which => {
  beforeAll(async () => {
    if (which === 'of these rows') await opened.database.query('analyze messages, message_states');
  });

  test.each(['the end of', 'a message in the middle of'])(
    'a page at %s a long thread reads its own rows',
    async place => {
      const middle = ids[MESSAGES / 2] ?? '';
      const half = PAGE / 2;
      const range =
        place === 'the end of'
          ? { after: null, ahead: 0, before: null, back: PAGE, isInclusive: false }
          : { after: middle, ahead: half, before: middle, back: half, isInclusive: true };
      const start = place === 'the end of' ? MESSAGES - PAGE : MESSAGES / 2 - half;
      const { rows, read } = await opened.db.transaction(async trx => {
        const before = await entriesRead(trx);
        const rows = await readThread(trx, 1, { column: 'conversation_id', id: 1 }, range);
        return { rows, read: (await entriesRead(trx)) - before };
      });
      expect(rows.map(({ id }) => id)).toEqual(ids.slice(start, start + PAGE));
      expect(rows.map(row => [row.has_previous, row.has_next])).toEqual(
        Array(PAGE).fill([true, start + PAGE < MESSAGES]),
      );
      // Each row, its state, and one on either side. Where the planner expects a thread of one row, it sorts each of the ranges.
      expect(read).toBeLessThan(PAGE * 8 + (which === 'of these rows' ? 0 : 2 * MESSAGES));
    },
  );
});
