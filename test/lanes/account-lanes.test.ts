import { afterAll, beforeAll, expect, test } from 'vitest';
import { startHooks } from '../features/webhooks/setup.ts';
import { dataOf } from '../support/answers.ts';
import { eventually, type TestGateway } from '../support/gateway.ts';

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startHooks();
});
afterAll(() => gateway.stop());

interface ShownLane {
  readonly queue: string;
  readonly state: string;
  readonly waitingCount: number;
}

const LANES = '{ lanes { queue subjectId state waitingCount oldestAt restsUntil failuresCount error } }';

const send = (text: string, token?: string) =>
  gateway.mutate('sendMessage', { to: { phone: '+14155550199' }, content: { text: { body: text } } }, '', token);

const laneOf = async (queue: string, token?: string): Promise<ShownLane | undefined> =>
  dataOf(await gateway.graphql(LANES, {}, token)).lanes.find((each: ShownLane) => each.queue === queue);

const outbox = () => laneOf('OUTBOX');

test('an account sees the depth and state of its own lanes, and the channel that each serves', async () => {
  const { channels } = dataOf(await gateway.graphql('{ channels { nodes { id } } }'));
  const [{ id }] = channels.nodes;
  // The network refuses for now: the lane rests, tries again, and rests again.
  const refused = { next: [{ errorCode: 130429, count: 1_000 }] };
  await fetch(`${gateway.emulator.url}/_emulator/faults`, { method: 'POST', body: JSON.stringify(refused) });
  for (const text of ['one', 'two', 'three']) await send(text);
  await eventually(async () => {
    expect(await outbox()).toMatchObject({
      subjectId: id,
      state: 'RESTING',
      waitingCount: 3,
      oldestAt: expect.any(String),
      restsUntil: expect.any(String),
      error: expect.stringContaining('130429'),
    });
  });
  const other = await gateway.addTenant();
  expect(dataOf(await gateway.graphql(LANES, {}, other.token)).lanes).not.toContainEqual(
    expect.objectContaining({ queue: 'OUTBOX' }),
  );

  await fetch(`${gateway.emulator.url}/_emulator/faults`, { method: 'DELETE' });
  await eventually(async () => {
    const lane = await outbox();
    expect(lane).toMatchObject({ waitingCount: 0, oldestAt: null, error: null });
    expect(['IDLE', 'RUNNING']).toContain(lane?.state);
  });
});

test('pending deliveries to webhook endpoints are a lane of the account', async () => {
  const tenant = await gateway.addTenant();
  await gateway.mutate(
    'createWebhookEndpoint',
    { url: 'http://127.0.0.1:1/hook', events: ['message.*'] },
    'webhookEndpoint { id }',
    tenant.token,
  );
  await send('Hi', tenant.token);
  await eventually(async () => {
    const lane = await laneOf('WEBHOOKS', tenant.token);
    expect(lane?.waitingCount).toBeGreaterThan(0);
    expect(lane).toMatchObject({ subjectId: null, state: 'RUNNING' });
  });
});
