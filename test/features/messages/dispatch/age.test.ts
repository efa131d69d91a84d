import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { connectChannel } from '../../../../src/features/channels/connect.ts';
import { dataOf, payloadOf } from '../../../support/answers.ts';
import { eventually, startGateway, type TestGateway, type TestTenant } from '../../../support/gateway.ts';
import { newPhone } from '../../../support/seed.ts';

/** A message is retried for 24 hours from its first attempt, however long it waited before. */

let gateway: TestGateway;
let tenant: TestTenant;
let phone: string;
beforeAll(async () => {
  gateway = await startGateway({ emulator: { faults: { window: 'open' } }, env: { PARLEY_RECONCILE_MS: '1000' } });
});
beforeEach(async () => {
  tenant = await gateway.addTenant();
  phone = newPhone();
});
afterAll(() => gateway.stop());

const DAY = 86_400_000;

/** Sends a message, of which only the database knows that it was scheduled three days ago. */
async function scheduled(): Promise<string> {
  const send = {
    to: { phone },
    content: { text: { body: 'Later' } },
    scheduledAt: { instant: new Date(Date.now() + 3 * DAY).toISOString() },
  };
  const { message } = payloadOf(await gateway.mutate('sendMessage', send, 'message { databaseId }', tenant.token));
  await gateway.database.query(`update messages set created_at = created_at - interval '3 days' where id = $1`, [
    message.databaseId,
  ]);
  return message.databaseId;
}
const come = (id: string) =>
  gateway.database.query(`update outbox set due_at = now() - interval '1 second' where message_id = $1`, [id]);
const read = async (id: string) =>
  dataOf(
    await gateway.graphql(
      'query ($id: ID!) { message(id: $id) { status error { code title } } }',
      { id },
      tenant.token,
    ),
  ).message;
const isSent = (id: string) =>
  eventually(async () =>
    expect(await read(id)).toMatchObject({ status: expect.stringMatching(/SENT|DELIVERED|READ/) }),
  );
const firstTry = async (id: string) =>
  (
    await gateway.database.query<{ attempts: number; tried: boolean }>(
      'select attempts, first_tried_at is not null as tried from outbox where message_id = $1',
      [id],
    )
  )[0];

test('a message that was scheduled three days ahead is retried after a temporary refusal', async () => {
  const id = await scheduled();
  gateway.emulator.setFaults({ next: [{ errorCode: 131_000, to: phone }] });
  await come(id);
  await isSent(id);
  expect(gateway.emulator.sent({ to: phone }).matched).toBe(1);
});

test('the status decides about a message that was scheduled three days ahead and whose answer was lost', async () => {
  const id = await scheduled();
  gateway.emulator.setFaults({ next: [{ reset: true, when: 'after', to: phone }] });
  await come(id);
  await isSent(id);
  expect(gateway.emulator.sent({ to: phone }).matched).toBe(1);
});

test('a message fails at a temporary refusal a day after its first attempt', async () => {
  const id = await scheduled();
  gateway.emulator.setFaults({ next: [{ errorCode: 131_000, to: phone, count: 1_000 }] });
  await come(id);
  await eventually(async () => expect(await firstTry(id)).toMatchObject({ tried: true }));
  await gateway.database.query(`update outbox set first_tried_at = now() - interval '25 hours' where message_id = $1`, [
    id,
  ]);
  await eventually(async () =>
    expect(await read(id)).toMatchObject({ status: 'FAILED', error: { title: 'Not sent within 24 hours' } }),
  );
  expect(gateway.emulator.sent({ to: phone }).matched).toBe(0);
});

test("an attempt that paused the channel does not start the message's 24 hours", async () => {
  const id = await scheduled();
  gateway.emulator.setFaults({ next: [{ errorCode: 190, to: phone }] });
  await come(id);
  await eventually(async () => {
    const [channel] = await gateway.database.query('select status from channels where tenant_id = $1', [tenant.id]);
    expect(channel).toEqual({ status: 'paused' });
  });
  expect(await firstTry(id)).toEqual({ attempts: 0, tried: false });
});

test.each(['resumed', 'connected again'])('the time in which a channel was paused does not count: %s', async how => {
  const send = { to: { phone }, content: { text: { body: 'Hi' } } };
  gateway.emulator.setFaults({ next: [{ errorCode: 131_056, to: phone, count: 1_000 }] });
  const id = payloadOf(await gateway.mutate('sendMessage', send, 'message { databaseId }', tenant.token)).message
    .databaseId;
  await eventually(async () => expect(await firstTry(id)).toMatchObject({ tried: true }));
  const [channel] = dataOf(await gateway.graphql('{ channels { nodes { id } } }', {}, tenant.token)).channels.nodes;
  payloadOf(await gateway.mutate('pauseChannel', { id: channel.id }, '', tenant.token));
  await gateway.database.query(`update outbox set first_tried_at = now() - interval '25 hours' where message_id = $1`, [
    id,
  ]);
  gateway.emulator.setFaults({ next: [] });
  gateway.emulator.setFaults({ next: [{ errorCode: 131_056, to: phone }] });
  if (how === 'resumed') payloadOf(await gateway.mutate('resumeChannel', { id: channel.id }, '', tenant.token));
  else {
    const { phoneNumberId, wabaId } = tenant;
    const secrets = { appSecret: 'test-app-secret', verifyToken: 'test-verify-token' };
    const accessToken = `access-${Number(phoneNumberId) - 1_000}`;
    const number = { name: 'Main', phoneNumberId, wabaId, accessToken, ...secrets };
    await connectChannel(gateway.gateway.resources, tenant.id, number);
  }
  await isSent(id);
});
