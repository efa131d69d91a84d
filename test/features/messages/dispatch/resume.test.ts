import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { Db } from '../../../../src/database/database.ts';
import { beginTriesAnew, extendDoubt } from '../../../../src/features/messages/dispatch/outbox.sql.ts';
import { openTestDatabase } from '../../../support/database.ts';
import { rowsReadBy } from '../../../support/rows-read.ts';

let opened: Awaited<ReturnType<typeof openTestDatabase>>;
beforeAll(async () => {
  opened = await openTestDatabase();
});
afterAll(() => opened.close());

const [WAITING, TRIED] = [20_000, 400];

const fill = (numbers: string) =>
  opened.database.query(`
    set session_replication_role = replica; -- without contacts
    insert into outbox (tenant_id, channel_id, contact_id, message_id, next_attempt_at, priority, first_tried_at, dispatched_at)
    select 1, 1, n, uuid_v7(now(), n), now() - interval '1 second', 2, tried_at, tried_at from (
      select n, case when n % ${WAITING / TRIED} = 0 then now() - interval '1 hour' end as tried_at from ${numbers} n) waiting;
    set session_replication_role = default`);

/** @returns how many rows of the outbox it reads */
const readBy = (run: (trx: Db) => Promise<void>): Promise<number> =>
  opened.db.transaction(trx => rowsReadBy(trx, ['outbox'], () => run(trx)));

const LANE = { queue: 'outbox', tenantId: 1, key: '1:1', epoch: 1 };

describe.each([
  { statistics: 'current', first: `generate_series(1, ${WAITING})`, later: undefined },
  { statistics: 'of one message', first: 'generate_series(1, 1)', later: `generate_series(2, ${WAITING})` },
])('with statistics that are $statistics', ({ first, later }) => {
  beforeEach(async () => {
    await opened.database.query('truncate outbox');
    await fill(first);
    await opened.database.query('vacuum analyze outbox');
    if (later) await fill(later);
  });

  test('resuming a channel reads its waiting messages once, and writes those that were tried by their keys', async () => {
    expect(await readBy(trx => beginTriesAnew(trx, 1, 1))).toBeLessThan(1.5 * WAITING);
    const left = await opened.database.query('select from outbox where first_tried_at is not null');
    expect(left).toEqual([]);
  });

  test('a take-over of a channel reads its waiting messages once, and writes those in doubt by their keys', async () => {
    expect(await readBy(trx => extendDoubt(trx, LANE))).toBeLessThan(1.5 * WAITING);
    const [restarted] = await opened.database.query(
      "select count(*)::int as count from outbox where dispatched_at > now() - interval '30 minutes'",
    );
    expect(restarted).toEqual({ count: TRIED });
  });
});
