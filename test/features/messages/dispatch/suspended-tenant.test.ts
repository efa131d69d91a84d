import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Gateway } from '../../../../src/app/serve.ts';
import type { HoldFacts } from '../../../../src/features/messages/dispatch/hold-reason.sql.ts';
import { holdReason } from '../../../../src/features/messages/dispatch/hold-reason.ts';
import { updateTenant } from '../../../../src/features/tenancy/tenants/store.ts';
import { payloadOf } from '../../../support/answers.ts';
import { eventually, startGateway, type TestGateway } from '../../../support/gateway.ts';
import { startWorker } from '../../../support/second-gateway.ts';
import { newPhone } from '../../../support/seed.ts';

let gateway: TestGateway;
let worker: Gateway | undefined;
beforeAll(async () => {
  gateway = await startGateway({ role: 'gateway' });
});
afterAll(async () => {
  await worker?.stop();
  await gateway.stop();
});

const setStatus = (status: 'active' | 'suspended') =>
  gateway.gateway.resources.db.transaction(trx => updateTenant(trx, gateway.tenant.id, { status }));
const statusesOf = async (ids: readonly string[]) =>
  (
    await gateway.database.query<{ status: string }>(
      'select status from message_states where message_id = any($1::uuid[]) order by message_id',
      [ids],
    )
  ).map(({ status }) => status);

test('queued and scheduled messages of a suspended tenant wait until it is active again', async () => {
  const phones = [newPhone(), newPhone()];
  const send = async (phone: string | undefined, more: object = {}): Promise<string> => {
    const input = { to: { phone }, content: { text: { body: 'Hi' } }, ...more };
    return payloadOf(await gateway.mutate('sendMessage', input, 'message { databaseId }')).message.databaseId;
  };
  const scheduledAt = { instant: new Date(Date.now() + 3_600_000).toISOString() };
  const ids = [await send(phones[0]), await send(phones[1], { scheduledAt })];
  await setStatus('suspended');
  await gateway.database.query("update outbox set due_at = now() - interval '1 second' where priority = 4");
  worker = await startWorker(gateway);
  await eventually(async () =>
    expect(await gateway.database.query("select error from lanes where queue = 'outbox'")).toEqual([
      { error: 'The tenant is suspended.' },
    ]),
  );
  await eventually(async () => expect(await statusesOf(ids)).toEqual(['queued', 'queued']));
  expect(gateway.emulator.sent().total).toBe(0);
  await setStatus('active');
  await gateway.database.query("update lanes set due_at = now() - interval '1 second' where queue = 'outbox'");
  await eventually(async () => expect(await gateway.database.query('select from outbox')).toEqual([]));
  expect(phones.map(to => gateway.emulator.sent({ to }).matched)).toEqual([1, 1]);
});

test('a message whose lane still waits after a suspension says so', () => {
  const held: HoldFacts = {
    message_id: '',
    is_outbox_held: false,
    channel_status: 'active',
    channel_reason: null,
    hold_reason: null,
    lane_error: 'The tenant is suspended.',
    is_behind: false,
    is_in_doubt: false,
  };
  expect(holdReason(held)).toBe('The tenant was suspended: the message is about to be sent.');
});
