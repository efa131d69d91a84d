import { sql } from 'kysely';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Db } from '../../../../src/database/database.ts';
import { storePrices } from '../../../../src/features/messages/pricing/store-prices.ts';
import { applyStatuses } from '../../../../src/features/messages/statuses/apply-statuses.ts';
import type { MessageStatus } from '../../../../src/network/network.ts';
import { startGateway, type TestGateway } from '../../../support/gateway.ts';
import { rowsReadBy } from '../../../support/rows-read.ts';
import { accountOf } from '../statistics/fixture.ts';

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startGateway({ role: 'gateway' });
});
afterAll(() => gateway.stop());

const BATCH = 50;
const MESSAGES = 20 * BATCH;

const TABLES = ['messages', 'message_pricing', 'message_wamids', 'message_states', 'message_updates'];

/** How often this transaction has used an index that finds no single price: for a look-up by message, it is read whole for the account. */
async function scansOfTimes(trx: Db): Promise<number> {
  const { rows } = await sql<{ scans: number }>`
    select pg_stat_get_xact_numscans('message_pricing_by_time'::regclass)::int as scans`.execute(trx);
  return rows[0]?.scans ?? Number.NaN;
}

test('a status finds its message and its price by key, with plans that were made for the first message', async () => {
  const account = await accountOf(gateway);
  await gateway.database.query('analyze');
  let phones = 0;
  const add = (count: number): Promise<string[]> =>
    account.add(
      Array.from({ length: count }, () => ({
        at: new Date(Date.now() - 60_000 + phones).toISOString(),
        phone: `+1415${5_550_000 + phones++}`,
      })),
    );
  const { db } = gateway.gateway.resources;
  const { total: read, scans } = await db.transaction(async trx => {
    const apply = (ids: readonly string[], status: MessageStatus): Promise<number> =>
      rowsReadBy(trx, TABLES, async () => {
        const updates = ids.map(id => ({ messageId: id, wamid: `wamid.${id}`, status, at: new Date().toISOString() }));
        await applyStatuses(trx, account.tenantId, updates, Date.now());
        const pricing = { model: 'PMP', type: 'regular', category: 'utility', isBillable: true };
        const priced = updates.map(update => ({ ...update, channelId: account.channelId, pricing }));
        await storePrices(trx, account.tenantId, priced, Date.now());
      });
    await apply(await add(1), 'sent');
    const ids = await add(MESSAGES);
    let total = 0;
    for (let from = 0; from < MESSAGES; from += BATCH) total += await apply(ids.slice(from, from + BATCH), 'sent');
    return { total, scans: await scansOfTimes(trx) };
  });
  // A few look-ups of each. A join on the tenant alone reads up to a thousand rows for each message.
  expect(read).toBeLessThan(MESSAGES * 20);
  expect(scans).toBe(0);
});
