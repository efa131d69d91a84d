import { sql } from 'kysely';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { append } from '../../../src/events.ts';
import { adoptLog } from '../../../src/features/events/adopt.ts';
import type { Database } from '../../../src/platform/database.ts';
import { createLog } from '../../../src/platform/log.ts';
import { startGateway, type TestGateway } from '../../support/gateway.ts';

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startGateway({ role: 'gateway' });
});
afterAll(() => gateway.stop());

const COUNT = 5_000;
const log = createLog('silent');

const inOrder = async (): Promise<{ id: string; xid: string; seq: number }[]> =>
  gateway.database.query('select id, xid::text as xid, seq::int as seq from events order by events.xid, events.seq');

test('a log from another cluster keeps its order, takes the oldest places, and may take longer than a statement may', async () => {
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
  // As the rows of many transactions, which do not lie in the order of their numbers.
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
  await adoptLog(hurried, log);
  const after = await inOrder();
  expect(after.map(({ id }) => id)).toEqual(before.map(({ id }) => id));
  expect(after).toEqual(after.map((row, index) => ({ ...row, xid: '0', seq: index + 1 })));
  const [reader] = await gateway.database.query(
    `select xid::text as xid, seq::int as seq from log_readers where name = 'half'`,
  );
  expect(reader).toEqual({ xid: '0', seq: COUNT / 2 + 1 });

  // What is of this cluster stays as it is.
  await db.transaction(trx =>
    append(trx, gateway.tenant.id, [{ type: 'group.created', payload: { group: { id: -1 } as never } }]),
  );
  const whole = await inOrder();
  await adoptLog(db, log);
  expect(await inOrder()).toEqual(whole);
  expect(whole.at(-1)?.xid).not.toBe('0');
});
