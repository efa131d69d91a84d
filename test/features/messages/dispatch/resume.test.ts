import { sql } from 'kysely';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { beginTriesAnew } from '../../../../src/features/messages/dispatch/outbox.sql.ts';
import { openTestDatabase } from '../../../support/database.ts';

let opened: Awaited<ReturnType<typeof openTestDatabase>>;
beforeAll(async () => {
  opened = await openTestDatabase();
});
afterAll(() => opened.close());

const [WAITING, TRIED] = [20_000, 400];

test('resuming a channel reads its waiting messages once, and writes those that were tried by their keys', async () => {
  await opened.database.query(`
    set session_replication_role = replica; -- without contacts
    insert into outbox (tenant_id, channel_id, contact_id, message_id, next_attempt_at, priority, first_tried_at)
    select 1, 1, n, uuid_v7(now(), n), now() - interval '1 second', 2, case when n % ${WAITING / TRIED} = 0 then now() - interval '1 hour' end
    from generate_series(1, ${WAITING}) n;
    set session_replication_role = default`);
  await opened.database.query('vacuum analyze outbox');
  const read = await opened.db.transaction(async trx => {
    await beginTriesAnew(trx, 1, 1);
    const { rows } = await sql<{ count: number }>`
      select (seq_tup_read + idx_tup_fetch)::int as count from pg_stat_xact_user_tables where relname = 'outbox'`.execute(
      trx,
    );
    return rows[0]?.count;
  });
  expect(read).toBeLessThan(1.5 * WAITING);
  const left = await opened.database.query('select from outbox where first_tried_at is not null');
  expect(left).toEqual([]);
});
