import { sql } from 'kysely';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Db } from '../../../../src/database/database.ts';
import { append } from '../../../../src/events/append.ts';
import { readAll } from '../../../../src/events/log.sql.ts';
import { QueueFront } from '../../../../src/features/messages/dispatch/lane-memory.ts';
import { claimDue, settle } from '../../../../src/features/messages/dispatch/outbox.sql.ts';
import { payloadOf } from '../../../support/answers.ts';
import { startGateway, type TestGateway } from '../../../support/gateway.ts';
import { ANY_TIMELINE } from '../../../support/lane.ts';
import { rowsReadBy } from '../../../support/rows-read.ts';
import { newPhone } from '../../../support/seed.ts';
import { type Account, accountOf } from '../statistics/fixture.ts';

/** Plans that were made while tables were empty, and said so, serve tables that have been filled since. */

let gateway: TestGateway;
let account: Account;
beforeAll(async () => {
  gateway = await startGateway({ role: 'gateway' });
  account = await accountOf(gateway);
  await gateway.database.query('analyze');
});
afterAll(() => gateway.stop());

const AT = '2026-01-01T00:00:00.000Z';
const BATCH = 50;
const MESSAGES = 20 * BATCH;

/** Accepted messages, each to a person of its own. @returns their ids, in order */
const addMessages = (to: Account, count: number): Promise<string[]> =>
  to.add(
    Array.from({ length: count }, (_, index) => ({
      at: new Date(Date.now() - 60_000 + index).toISOString(),
      phone: `+1415${5_550_000 + index}`,
    })),
  );

/** In the order of ids. */
const enqueue = (on: Db, { tenantId }: Account, ids: readonly string[]) =>
  sql`select enqueue_messages(${tenantId}::bigint, array_agg(m.channel_id), array_agg(m.contact_id), array_agg(m.id),
    array_agg(2::smallint), array_agg(null::bytea))
    from (select * from messages where tenant_id = ${tenantId} and id = any(${ids}::uuid[]) order by id) m`.execute(on);

test('messages find their queues by key, however many wait', async () => {
  const ids = await addMessages(account, MESSAGES + 1);
  const read = await gateway.gateway.resources.db.transaction(async trx => {
    await enqueue(trx, account, ids.slice(0, 1));
    for (let from = 1; from < ids.length; from += BATCH) await enqueue(trx, account, ids.slice(from, from + BATCH));
    return rowsReadBy(trx, ['outbox'], async () => {
      // The second messages of the same people: each looks for the last one of its queue.
      const seconds = await sql<{ id: string }>`
        insert into messages (tenant_id, id, conversation_id, contact_id, channel_id, direction, type, body, created_at)
        select tenant_id, message_id_at(floor(extract(epoch from now()) * 1000)::bigint, nextval('message_arrivals')), conversation_id, contact_id, channel_id, direction, type, body, created_at
        from messages where tenant_id = ${account.tenantId} returning id`.execute(trx);
      const again = seconds.rows.map(({ id }) => id);
      for (let from = 0; from < again.length; from += BATCH)
        await enqueue(trx, account, again.slice(from, from + BATCH));
    });
  });
  // Two or three look-ups of each. A scan of the account's queue reads a thousand rows and more for each batch, or each message.
  expect(read).toBeLessThan(MESSAGES * 8);
});

test('functions that look for the first or last message of a queue only use the index with its order', async () => {
  const rows = await gateway.database.query<{ name: string; isSorting: boolean }>(
    `select proname as name, not 'enable_sort=off' = any(coalesce(proconfig, '{}')) as "isSorting" from pg_proc
     where pronamespace = 'public'::regnamespace and prosrc ~ 'from outbox' and prosrc ~ 'order by [^)]*limit' order by proname`,
  );
  expect(rows.length).toBeGreaterThan(5);
  // Where the queue is taken for empty, sorting what the account has is cheaper than a look-up in a deep index.
  expect(rows.filter(row => row.isSorting)).toEqual([]);
});

/** When the plans are made for a queue that was analyzed as empty. */
const PLANNED = ['before they wait', 'while they wait'] as const;

test.each(PLANNED)(
  'messages are postponed and leave their queues by key, however many wait, planned %s',
  async planned => {
    const own = await accountOf(gateway);
    const ids = await addMessages(own, MESSAGES);
    const refs = ids.map(messageId => ({ tenantId: own.tenantId, messageId }));
    const { db } = gateway.gateway.resources;
    const isPlannedBefore = planned === 'before they wait';
    // Just emptied, as autovacuum finds it: it has pages, and no rows.
    await gateway.database.query('truncate outbox');
    await enqueue(db.write, own, isPlannedBefore ? ids : ids.slice(0, 2));
    await gateway.database.query('delete from outbox');
    await gateway.database.query('analyze outbox');
    const read = await db.transaction(async trx => {
      const postpone = (of: readonly string[]) =>
        sql`select postpone_outbox(array_agg(${own.tenantId}::bigint), array_agg(id), array_agg(0), array_agg(0::float8), array_agg(true),
        array_agg(false), array_agg('later'::text)) from unnest(${of}::uuid[]) as u (id)`.execute(trx);
      if (isPlannedBefore) {
        await settle(trx, refs.slice(0, 2));
        await settle(trx, refs.slice(0, 2), 'waiting');
        await postpone(ids.slice(0, 2));
      }
      await enqueue(trx, own, ids);
      if (!isPlannedBefore) {
        await sql`discard plans`.execute(trx);
        // A level of an index costs more, as the many levels of a large one do.
        await sql`set local cpu_operator_cost = 0.1`.execute(trx);
      }
      return rowsReadBy(trx, ['outbox'], async () => {
        for (let from = 0; from < ids.length; from += BATCH) await postpone(ids.slice(from, from + BATCH));
        for (let from = 0; from < ids.length; from += BATCH) {
          const which = from % (2 * BATCH) === 0 ? 'all' : 'waiting';
          expect(await settle(trx, refs.slice(from, from + BATCH), which)).toHaveLength(BATCH);
        }
      });
    });
    // Some look-ups of each. A scan of the queue reads all its rows for each batch, and more.
    expect(read).toBeLessThan(MESSAGES * 10);
  },
);

test('messages are claimed by key, however many wait', async () => {
  const own = await accountOf(gateway);
  const ids = await addMessages(own, MESSAGES);
  const { db } = gateway.gateway.resources;
  // Just emptied, and without pages.
  await gateway.database.query('delete from outbox');
  await gateway.database.query('vacuum analyze outbox');
  const read = await db.transaction(async trx => {
    const lane = { tenantId: own.tenantId, channelId: own.channelId, limit: BATCH };
    const claim = async (front: QueueFront): Promise<string[]> =>
      (await claimDue(trx, [{ ...lane, front }], 60_000, ANY_TIMELINE)).flat().map(row => row.message_id);
    // Its plan is made for one message.
    await enqueue(trx, own, ids.slice(0, 1));
    expect(await claim(new QueueFront())).toEqual(ids.slice(0, 1));
    for (let from = 1; from < ids.length; from += BATCH) await enqueue(trx, own, ids.slice(from, from + BATCH));
    // A claim reads again what became due in the last seconds.
    await sql`update outbox set next_attempt_at = next_attempt_at - interval '1 minute' where tenant_id = ${own.tenantId} and dispatched_at is null`.execute(
      trx,
    );
    const front = new QueueFront();
    return rowsReadBy(trx, ['outbox'], async () => {
      for (let from = 1; from < ids.length; from += BATCH)
        expect(await claim(front)).toEqual(ids.slice(from, from + BATCH));
    });
  });
  // Some look-ups of each. A scan of the queue reads a thousand rows for each claim.
  expect(read).toBeLessThan(MESSAGES * 6);
});

test('the tailer reads the events after its place, however many the partition holds', async () => {
  const add = (trx: Db, count: number) =>
    append(
      trx,
      account.tenantId,
      Array.from(
        { length: count },
        (_, id) =>
          ({ type: 'source.deleted', payload: { source: { id, name: 'x', created_at: AT, updated_at: AT } } }) as const,
      ),
    );
  const wanted = { tenants: [], types: [] };
  const read = await gateway.gateway.resources.db.transaction(async trx => {
    const end = { xid: 2n ** 62n, seq: 0 };
    // The sixth execution and those after it use the generic plan.
    for (let turn = 0; turn < 6; turn += 1) await readAll(trx, { xid: 0n, seq: 0 }, end, 500, wanted);
    await add(trx, MESSAGES);
    const all = await readAll(trx, { xid: 0n, seq: 0 }, end, MESSAGES * 2, wanted);
    const last = all.at(-6);
    if (!last) throw new Error('The events were not read.');
    return rowsReadBy(trx, ['events'], async () => {
      const tail = await readAll(trx, { xid: BigInt(last.xid), seq: last.seq }, end, 500, wanted);
      expect(tail).toHaveLength(5);
    });
  });
  expect(read).toBeLessThan(50);
});

interface PlanNode {
  readonly 'Node Type': string;
  readonly 'Join Filter'?: string;
  readonly Plans?: readonly PlanNode[];
}

/** The plan that a connection keeps, whatever the values, with the parts below each part. */
async function partsOfPlan(text: string): Promise<PlanNode[]> {
  const values = Array(new Set(text.match(/\$\d+/g)).size).fill('null');
  const partsOf = (part: PlanNode): PlanNode[] => [part, ...(part.Plans ?? []).flatMap(partsOf)];
  const { rows } = await gateway.gateway.resources.db.write.connection().execute(async connection => {
    await sql.raw(`prepare planned as ${text}`).execute(connection);
    try {
      return await sql
        .raw<{ 'QUERY PLAN': { Plan: PlanNode }[] }>(`explain (format json) execute planned (${values.join(', ')})`)
        .execute(connection);
    } finally {
      await sql`deallocate planned`.execute(connection);
    }
  });
  return (rows[0]?.['QUERY PLAN'] ?? []).flatMap(({ Plan }) => partsOf(Plan));
}

test('messages that are accepted together are not compared pair by pair', async () => {
  await addMessages(await accountOf(gateway), MESSAGES);
  await gateway.database.query('analyze');
  const to = { phone: newPhone() };
  const content = { text: { body: 'Hello' } };
  const later = { scheduledAt: { instant: new Date(Date.now() + 3_600_000).toISOString() } };
  gateway.statements.length = 0;
  // To a new contact, in its conversation, and later.
  for (const input of [{}, {}, later])
    payloadOf(await gateway.mutate('sendMessage', { to, content, ...input }, 'message { id }'));
  const texts = new Set(gateway.statements.filter(text => text.includes('insert into messages as m')));
  expect(texts.size).toBe(3);
  for (const text of texts) {
    const loops = (await partsOfPlan(text)).filter(
      part =>
        part['Node Type'] === 'Nested Loop' &&
        part['Join Filter']?.includes(' = ') &&
        part.Plans?.some(inner => inner['Node Type'] === 'CTE Scan'),
    );
    // With 500 messages, such a loop takes as long as all the rest.
    expect(loops).toEqual([]);
  }
});
