import { afterAll, beforeAll, expect, test } from 'vitest';
import { payloadOf } from '../../../support/answers.ts';
import { eventually, startGateway, type TestGateway } from '../../../support/gateway.ts';
import { holdLock } from '../../../support/lock.ts';
import { newPhone } from '../../../support/seed.ts';
import { sendAs } from '../../../support/sending.ts';

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startGateway({ role: 'gateway' });
});
afterAll(() => gateway.stop());

test.each([{}, { idempotencyKey: 'once' }])(
  'a mutation that is aborted to resolve a deadlock is repeated: %o',
  async keyed => {
    const { tenant, database } = gateway;
    for (const to of [newPhone(), newPhone()])
      payloadOf(await sendAs(gateway, 'text', { to, text: 'Hi' }, 'databaseId'));
    const rows = await database.query<{ id: string }>('select id from conversations where tenant_id = $1 order by id', [
      tenant.id,
    ]);
    const ids = rows.slice(-2).map(({ id }) => String(id));
    const LOCK = 'select 1 from conversations where tenant_id = $1 and id = $2 for update';
    const held = await holdLock(database, LOCK, [tenant.id, ids[1]]);
    try {
      const updating = gateway.mutate(
        'updateConversations',
        { target: { ids }, set: { status: 'PENDING' }, ...keyed },
        'results { outcome }',
      );
      await eventually(async () => expect(await held.waiting()).toHaveLength(1));
      // Granted by the abortion of the update, which waits for it again.
      await held.lock(LOCK, [tenant.id, ids[0]]);
      await eventually(async () => expect(await held.waiting()).toHaveLength(1));
      await held.release();
      const { results } = payloadOf(await updating);
      expect(results).toEqual([{ outcome: 'UPDATED' }, { outcome: 'UPDATED' }]);
    } finally {
      await held.release();
    }
  },
);
