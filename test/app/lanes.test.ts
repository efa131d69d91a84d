import { describe, expect, type TestContext, test } from 'vitest';
import type { Clock } from '../../src/platform/clock.ts';
import type { TestGatewayOptions } from '../support/gateway.ts';
import { eventually, startGateway, type TestGateway } from '../support/gateway.ts';
import { createSlowClock } from '../support/slow-clock.ts';

const SEND =
  'mutation ($to: String!, $text: String!) { sendMessage(input: { to: { phone: $to }, content: { text: { body: $text } } }) { message { databaseId } userErrors { code message path } } }';

async function start(
  { onTestFinished }: TestContext,
  faults: NonNullable<TestGatewayOptions['emulator']>['faults'],
  env: Record<string, string> = {},
  clock?: Clock,
): Promise<TestGateway> {
  const gateway = await startGateway({
    emulator: {
      faults: { window: 'open', pairLimit: false, throughputLimit: false, ...faults },
      ...(clock && { clock }),
    },
    env,
    ...(clock && { clock }),
  });
  onTestFinished(() => gateway.stop());
  return gateway;
}

async function send(gateway: TestGateway, to: string, text: string, token?: string): Promise<string> {
  const answer = await gateway.graphql(SEND, { to, text }, token);
  expect(answer.errors).toBeUndefined();
  return answer.data.sendMessage.message.databaseId;
}

const taken = (gateway: TestGateway, to?: string) => gateway.emulator.sent({ limit: 10_000, to }).messages;

/** Number of send attempts by outcome, from the metrics. */
async function attempts(gateway: TestGateway, outcome: string): Promise<number> {
  const text = await fetch(`${gateway.url}/metrics`).then(answer => answer.text());
  return Number(new RegExp(`^parley_\\w+\\{outcome="${outcome}"\\} (\\d+)$`, 'm').exec(text)?.[1] ?? 0);
}

describe.concurrent('order and concurrency', () => {
  test('each person gets messages in the order of acceptance, while many people are served concurrently', async context => {
    const gateway = await start(context, { latencyMs: 4_000 });
    const people = Array.from({ length: 20 }, (_, index) => `+1415555${5_000 + index}`);
    const sending = Promise.all(
      people.map(async to => {
        for (let index = 0; index < 5; index += 1) await send(gateway, to, `${index}`);
      }),
    );
    // Sequentially, the first message of each person would take 80 s.
    await eventually(() => expect(new Set(taken(gateway).map(message => message.to)).size).toBe(20));
    gateway.emulator.setFaults({ latencyMs: 100 });
    await sending;
    await eventually(() => expect(taken(gateway)).toHaveLength(100));
    for (const to of people) expect(taken(gateway, to).map(message => message.body)).toEqual(['0', '1', '2', '3', '4']);
  });

  test('a hanging send to one person does not delay others', async context => {
    const gateway = await start(
      context,
      { next: [{ timeout: true, to: '+14155556000' }] },
      { PARLEY_NETWORK_TIMEOUT_MS: '120000' },
    );
    await send(gateway, '+14155556000', 'hangs');
    for (let index = 0; index < 5; index += 1) await send(gateway, '+14155556001', `${index}`);
    // Each message waits for its predecessor, none for the hanging one.
    await eventually(() =>
      expect(taken(gateway, '+14155556001').map(message => message.body)).toEqual(['0', '1', '2', '3', '4']),
    );
  });

  test('a fast channel has as many requests at a slow network as it may send in a second', async context => {
    const gateway = await start(
      context,
      { next: Array.from({ length: 100 }, () => ({ timeout: true as const })) },
      { PARLEY_NETWORK_TIMEOUT_MS: '120000' },
    );
    await gateway.database.query('update channels set messages_per_second = 500 where tenant_id = $1', [
      gateway.tenant.id,
    ]);
    await Promise.all(Array.from({ length: 100 }, (_, index) => send(gateway, `+1415556${4_000 + index}`, 'Hi')));
    await eventually(async () =>
      expect(
        await gateway.database.query('select count(*)::int as running from outbox where dispatched_at is not null'),
      ).toEqual([{ running: 100 }]),
    );
  });

  test('messages after one in doubt wait without polling the database, and are sent as soon as its status arrives', async context => {
    const gateway = await start(
      context,
      { next: [{ timeout: true, when: 'after', to: '+14155556100' }] },
      { PARLEY_NETWORK_TIMEOUT_MS: '1000', PARLEY_RECONCILE_MS: '120000' },
    );
    gateway.emulator.setWebhookUrl(undefined);
    const first = await send(gateway, '+14155556100', 'in doubt');
    await send(gateway, '+14155556100', 'after it');
    await eventually(async () => expect(await attempts(gateway, 'in_doubt')).toBe(1));
    await new Promise(resolve => setTimeout(resolve, 100));
    gateway.statements.length = 0;
    const since = performance.now();
    await new Promise(resolve => setTimeout(resolve, 1_000));
    const looks = gateway.statements.filter(text => text.includes('outbox')).length;
    expect((looks / (performance.now() - since)) * 1_000, 'a second').toBeLessThan(10);
    expect(taken(gateway).map(message => message.body)).toEqual(['in doubt']);
    gateway.emulator.setWebhookUrl(`${gateway.url}/network/cloud-api/webhook`);
    await eventually(() => expect(taken(gateway).map(message => message.body)).toEqual(['in doubt', 'after it']));
    expect(gateway.emulator.sent().byCallbackData[first]).toBe(1);
  });

  test('a paused channel does not occupy a slot of other channels', async context => {
    const gateway = await start(
      context,
      { next: [{ timeout: true, when: 'before', to: '+14155556200' }] },
      { PARLEY_LANES: '1', PARLEY_NETWORK_TIMEOUT_MS: '1000', PARLEY_RECONCILE_MS: '120000' },
    );
    const other = await gateway.addTenant();
    await send(gateway, '+14155556200', 'waits');
    await eventually(async () => expect(await attempts(gateway, 'in_doubt')).toBe(1));
    await send(gateway, '+14155556201', 'does not wait', other.token);
    await eventually(() => expect(taken(gateway).map(message => message.body)).toEqual(['does not wait']));
    // The first channel resumes by itself when its pause ends.
    await gateway.database.query(`update outbox set next_attempt_at = next_attempt_at - interval '120 s'`);
    await gateway.database.query(`update lanes set due_at = due_at - interval '120 s' where queue = 'outbox'`);
    await eventually(() => expect(taken(gateway).map(message => message.body)).toEqual(['does not wait', 'waits']));
  });
});

describe.concurrent('pacing', () => {
  test('a channel sends at its rate and never exceeds the network’s limit', async context => {
    const gateway = await start(context, { throughputLimit: true });
    const { tenant } = gateway;
    await gateway.database.query('update channels set messages_per_second = 40 where tenant_id = $1', [tenant.id]);
    const numbers = {
      phoneNumberId: tenant.phoneNumberId,
      wabaId: tenant.wabaId,
      displayPhoneNumber: '+1 555 078 1001',
      verifiedName: 'x',
      accessToken: `access-${Number(tenant.phoneNumberId) - 1_000}`,
      messagesPerSecond: 40,
    };
    await fetch(`${gateway.emulator.url}/_emulator/numbers`, { method: 'POST', body: JSON.stringify(numbers) });
    const startedAt = Date.now();
    await Promise.all(Array.from({ length: 100 }, (_, index) => send(gateway, `+1415555${7_000 + index}`, 'Hi')));
    await eventually(() => expect(taken(gateway)).toHaveLength(100));
    expect(Date.now() - startedAt).toBeGreaterThan(2_000);
    expect(await attempts(gateway, 'refused')).toBe(0);
  });

  test('one person gets a burst of at most 45, even over several turns of the lane, and the network refuses none', async context => {
    // The burst must be sent within six seconds.
    const clock = createSlowClock();
    const gateway = await start(context, { pairLimit: true }, {}, clock);
    for (let index = 0; index < 30; index += 1) await send(gateway, '+14155558000', `${index}`);
    await eventually(() => expect(taken(gateway)).toHaveLength(30));
    // Long enough for the empty lane to be released, and for the burst to end.
    await new Promise(resolve => setTimeout(resolve, 3_000));
    clock.ahead(6_200);
    for (let index = 30; index < 34; index += 1) await send(gateway, '+14155558000', `${index}`);
    await send(gateway, '+14155558001', 'somebody else');
    await eventually(() => expect(taken(gateway, '+14155558001')).toHaveLength(1));
    await new Promise(resolve => setTimeout(resolve, 300));
    expect(await attempts(gateway, 'refused')).toBe(0);
    expect(taken(gateway, '+14155558000')).toHaveLength(30);
  });
});
