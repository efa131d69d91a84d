import { afterAll, beforeAll, expect, test } from 'vitest';
import { codeOf, dataOf, payloadOf } from '../../../support/answers.ts';
import { eventually, type TestGateway } from '../../../support/gateway.ts';
import { newPhone } from '../../../support/seed.ts';
import { type Receiver, startReceiver } from '../receiver.ts';
import { createEndpoint, deliveries, makeGroups, startHooks } from '../setup.ts';

let gateway: TestGateway;
let receiver: Receiver;
beforeAll(async () => {
  [gateway, receiver] = await Promise.all([startHooks(), startReceiver()]);
});
afterAll(async () => {
  await gateway.stop();
  await receiver.stop();
});

/** Makes an endpoint with a delivery about a contact, then erases the contact. @returns the ids of the endpoint and of the delivery */
async function deliveredAndErased(path: string): Promise<{ id: number; delivery: string }> {
  const { id } = await createEndpoint(gateway, { url: receiver.url + path, events: ['contact.created', 'group.*'] });
  const created = await gateway.mutate('createContact', { phone: newPhone(), firstName: 'Ana' }, 'contact { id }');
  const row = await eventually(async () => {
    const [found] = await deliveries(gateway, id);
    expect(found).toMatchObject({ status: 'DELIVERED' });
    return found;
  });
  dataOf(await gateway.mutate('deleteContact', { id: payloadOf(created).contact.id }, 'deletedId'));
  await eventually(async () =>
    expect(
      await gateway.database.query('select from webhook_deliveries where id = $1 and erased_at is not null', [
        row.databaseId,
      ]),
    ).toHaveLength(1),
  );
  return { id, delivery: row.databaseId };
}

test('a delivery about an erased contact cannot be replayed: nothing is left to send', async () => {
  const { id, delivery } = await deliveredAndErased('/erased');
  await makeGroups(gateway, ['kept']);
  await eventually(async () =>
    expect((await deliveries(gateway, id)).map(row => row.status)).toEqual(['DELIVERED', 'DELIVERED']),
  );
  const before = receiver.at('/erased').length;
  const replayMany = (input: object) => gateway.mutate('replayWebhookDeliveries', input, 'count');
  expect(codeOf(await gateway.mutate('replayWebhookDelivery', { id: delivery }, 'webhookDelivery { id }'))).toBe(
    'CONFLICT',
  );
  expect(codeOf(await replayMany({ ids: [delivery] }))).toBe('CONFLICT');
  const since = { endpointId: String(id), since: new Date(0).toISOString(), onlyFailed: false };
  expect(payloadOf(await replayMany(since)).count).toBe(1);
  await eventually(() => expect(receiver.at('/erased')).toHaveLength(before + 1));
  expect(receiver.at('/erased').at(-1)?.headers['x-webhook-event']).toBe('group.created');
});

test('one that an earlier version had queued again ends with its failure, and the other attempts are recorded', async () => {
  const { id, delivery } = await deliveredAndErased('/queued');
  receiver.answer(({ headers }, response) => {
    response.writeHead(headers['webhook-id'] === delivery ? 503 : 200).end();
  });
  await gateway.database.query(
    `update webhook_deliveries set status = 'pending', tries = 0, settled_at = null, next_attempt_at = now() - interval '1 second'
     where id = $1`,
    [delivery],
  );
  await makeGroups(gateway, ['beside it']);
  await eventually(async () =>
    expect((await deliveries(gateway, id)).map(row => [row.status, row.attemptCount])).toEqual([
      ['FAILED', 2],
      ['DELIVERED', 1],
    ]),
  );
  expect(receiver.at('/queued').filter(got => got.headers['x-webhook-event'] === 'group.created')).toHaveLength(1);
});
