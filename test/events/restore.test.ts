import { sql } from 'kysely';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Database } from '../../src/database/database.ts';
import { append } from '../../src/events/append.ts';
import { restoreLog } from '../../src/events/restore.ts';
import { startGateway, type TestGateway } from '../support/gateway.ts';

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startGateway({ role: 'gateway' });
});
afterAll(() => gateway.stop());

const COUNT = 5_000;

const inOrder = async (): Promise<{ id: string; xid: string; seq: number }[]> =>
  gateway.database.query('select id, xid::text as xid, seq::int as seq from events order by events.xid, events.seq');

test('a restored log keeps its order, gets the lowest positions, and may exceed the statement timeout', async () => {
  const { db } = gateway.gateway.resources;
  await db.transaction(trx =>
    append(
      trx,
      gateway.tenant.id,
      Array.from({ length: COUNT }, (_, id) => ({
        type: 'group.created' as const,
        payload: { group: { id } as never },
      })),
    ),
  );
  // Simulates rows of many transactions, stored in a different order than their ids.
  await gateway.database.query('update events set xid = (1e12 + (seq * 7919) % 1000)::bigint::text::xid8');
  const before = await inOrder();
  const last = before[COUNT / 2];
  await gateway.database.query(
    `insert into log_readers (name, xid, seq) values ('half', '${last?.xid}', ${last?.seq})`,
  );

  const hurried: Database = {
    ...db,
    transaction: work =>
      db.transaction(async trx => {
        await sql`set local statement_timeout = 1`.execute(trx);
        return work(trx);
      }),
  };
  const reported: number[] = [];
  const count = await restoreLog(hurried, {
    renumberOthers: async () => undefined,
    progress: done => void reported.push(done),
  });
  expect(count).toBe(before.length);
  expect(reported).toEqual([0, before.length]);
  const after = await inOrder();
  expect(after.map(({ id }) => id)).toEqual(before.map(({ id }) => id));
  expect(after).toEqual(after.map((row, index) => ({ ...row, xid: '0', seq: index + 1 })));
  const [reader] = await gateway.database.query(
    `select xid::text as xid, seq::int as seq from log_readers where name = 'half'`,
  );
  expect(reader).toEqual({ xid: '0', seq: COUNT / 2 + 1 });

  // A second restore, including later events, keeps the order without gaps.
  await db.transaction(trx =>
    append(trx, gateway.tenant.id, [{ type: 'group.created', payload: { group: { id: -1 } as never } }]),
  );
  await gateway.database.query(`delete from events where xid = '0' and seq <= 10`);
  const left = await inOrder();
  await restoreLog(db, { renumberOthers: async () => undefined });
  expect(await inOrder()).toEqual(left.map((row, index) => ({ id: row.id, xid: '0', seq: index + 1 })));
});
