import { afterAll, beforeAll, expect, test } from 'vitest';
import { applyStatuses } from '../../../../src/features/messages/statuses/apply-statuses.ts';
import { payloadOf } from '../../../support/answers.ts';
import { eventually, startGateway, type TestGateway } from '../../../support/gateway.ts';
import { holdLock } from '../../../support/lock.ts';
import { startWorker } from '../../../support/second-gateway.ts';
import { newPhone } from '../../../support/seed.ts';

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startGateway({ role: 'gateway', emulator: { faults: { userIds: false } } });
});
afterAll(() => gateway.stop());

test('the acceptance of a reaction waits for a change of its contact without a lock on the queue', async () => {
  const { tenant, database } = gateway;
  const rows = (text: string) => database.query<{ id: string }>(text, [tenant.id]);
  const worker = await startWorker(gateway);
  gateway.emulator.inbound({ type: 'text', from: newPhone(), text: 'Thanks!', phoneNumberId: tenant.phoneNumberId });
  const INBOUND = "select id from messages where tenant_id = $1 and direction = 'inbound'";
  await eventually(async () => expect(await rows(INBOUND)).toHaveLength(1));
  await worker.stop();
  const [question] = await rows(INBOUND);
  payloadOf(await gateway.mutate('reactToMessage', { id: question?.id, emoji: '👍' }, 'message { id }'));
  const [reaction] = await rows('select message_id as id from outbox where tenant_id = $1');
  const [survivor] = await rows(
    "insert into contacts (tenant_id, firstname, lastname, phone, phone_key) values ($1, 'A', 'B', '+4915155500001', '4915155500001') returning id",
  );
  const held = await holdLock(database, 'select 1 from contacts where tenant_id = $1 for update', [tenant.id]);
  try {
    const at = new Date().toISOString();
    const status = { messageId: String(reaction?.id), status: 'sent', wamid: 'wamid.reaction', at } as const;
    const applying = gateway.gateway.resources.db.transaction(trx =>
      applyStatuses(trx, tenant.id, [status], Date.now()),
    );
    await eventually(async () => expect(await held.waiting()).toHaveLength(1));
    // As a merge does, which holds the contact.
    await held.lock('select 1 from outbox where tenant_id = $1 for update nowait', [tenant.id]);
    await held.lock('update messages set contact_id = $2 where tenant_id = $1', [tenant.id, survivor?.id]);
    await held.lock('commit');
    await applying;
  } finally {
    await held.release();
  }
  const reactions = await database.query('select emoji, contact_id from message_reactions where tenant_id = $1', [
    tenant.id,
  ]);
  expect(reactions).toEqual([{ emoji: '👍', contact_id: survivor?.id }]);
  expect(await rows('select message_id as id from outbox where tenant_id = $1')).toEqual([]);
});
