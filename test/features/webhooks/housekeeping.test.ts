import { afterAll, beforeAll, expect, test } from 'vitest';
import { readBy } from '../../events/past-events.ts';
import { dataOf } from '../../support/answers.ts';
import { eventually, type TestGateway } from '../../support/gateway.ts';
import { type Receiver, startReceiver } from './receiver.ts';
import { createEndpoint, makeGroups, startHooks } from './setup.ts';

let gateway: TestGateway;
let receiver: Receiver;
beforeAll(async () => {
  [gateway, receiver] = await Promise.all([startHooks(), startReceiver()]);
});
afterAll(async () => {
  await gateway.stop();
  await receiver.stop();
});

const read = (): Promise<void> => readBy('webhooks', gateway, gateway.tenant.id);

const queued = (): string[] =>
  gateway.statements.filter(text => text.includes('insert into webhook_deliveries') && text.includes('from events e'));

test('events are read for endpoints only while one is enabled, and the first event of the first endpoint is delivered', async () => {
  await makeGroups(gateway, ['before']);
  await read();
  expect(queued()).toEqual([]);

  const { id } = await createEndpoint(gateway, { url: `${receiver.url}/first`, events: ['group.*'] });
  await makeGroups(gateway, ['first', 'second']);
  await eventually(() =>
    expect(receiver.at('/first').map(({ body }) => body.data.group.name)).toEqual(['first', 'second']),
  );
  expect(queued()).not.toEqual([]);

  dataOf(await gateway.mutate('updateWebhookEndpoint', { id: String(id), isEnabled: false }, 'webhookEndpoint { id }'));
  await read();
  gateway.statements.length = 0;
  await makeGroups(gateway, ['after']);
  await read();
  expect(queued()).toEqual([]);
});
