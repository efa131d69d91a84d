import { afterAll, beforeAll, expect, test } from 'vitest';
import { payloadOf } from '../../../support/answers.ts';
import { eventually, startGateway, type TestGateway } from '../../../support/gateway.ts';
import { holdLock } from '../../../support/lock.ts';
import { seedOf } from '../../../support/seed.ts';
import { sendAs } from '../../../support/sending.ts';

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startGateway({ role: 'gateway' });
});
afterAll(() => gateway.stop());

test('a send that is aborted to resolve a deadlock is accepted once the other transaction has ended', async () => {
  const { tenant, database } = gateway;
  const { id, globalId: to } = await seedOf(gateway).contact();
  payloadOf(await sendAs(gateway, 'text', { to, text: 'One' }, 'databaseId'));
  const held = await holdLock(
    database,
    'select 1 from conversations where tenant_id = $1 and contact_id = $2 for update',
    [tenant.id, id],
  );
  try {
    const sending = sendAs(gateway, 'text', { to, text: 'Two' }, 'databaseId');
    await eventually(async () => expect(await held.waiting()).toHaveLength(1));
    // Granted by the abortion of the send, which waits for it again.
    await held.lock('select 1 from contacts where tenant_id = $1 and id = $2 for update', [tenant.id, id]);
    await eventually(async () => expect(await held.waiting()).toHaveLength(1));
    await held.release();
    payloadOf(await sending);
  } finally {
    await held.release();
  }
  const texts = await database.query('select body from messages where tenant_id = $1 order by id', [tenant.id]);
  expect(texts).toEqual([{ body: 'One' }, { body: 'Two' }]);
});
