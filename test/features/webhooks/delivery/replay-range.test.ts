import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Gateway } from '../../../../src/app/serve.ts';
import { payloadOf } from '../../../support/answers.ts';
import { eventually, type TestGateway } from '../../../support/gateway.ts';
import { startWorker } from '../../../support/second-gateway.ts';
import { type Receiver, startReceiver } from '../receiver.ts';
import { createEndpoint, makeGroups, startHooks, wake } from '../setup.ts';

const COUNT = 1_000;

let gateway: TestGateway;
let receiver: Receiver;
let workers: Gateway[];
beforeAll(async () => {
  [gateway, receiver] = await Promise.all([startHooks({ role: 'gateway' }), startReceiver()]);
  workers = await Promise.all([startWorker(gateway), startWorker(gateway)]);
});
afterAll(async () => {
  for (const worker of workers) await worker.stop();
  await gateway.stop();
  await receiver.stop();
});

const pending = async (id: number): Promise<number> =>
  (await gateway.database.query(`select from webhook_deliveries where endpoint_id = $1 and status = 'pending'`, [id]))
    .length;

test('a range that is replayed several times amid failures, while a worker stops, is delivered as often as it was queued', async () => {
  const { id } = await createEndpoint(gateway, { url: `${receiver.url}/range`, events: ['group.*'] });
  await makeGroups(gateway, ['one']);
  await eventually(async () => {
    expect(receiver.at('/range')).toHaveLength(1);
    expect(await pending(id)).toBe(0);
  });
  await gateway.database.query(
    `insert into webhook_deliveries (tenant_id, id, endpoint_id, shard, event_id, event_type, status, attempts, tries, created_at, settled_at)
     select tenant_id, uuid_v7(created_at, n), endpoint_id, shard, event_id, event_type,
       case when n % 2 = 0 then 'failed' else 'delivered' end, 1, 1, created_at, settled_at
     from webhook_deliveries, generate_series(1, $2::int) n where endpoint_id = $1`,
    [id, COUNT - 1],
  );
  const accepted: string[] = [];
  let [requests, isFailing] = [0, true];
  receiver.answer(({ headers }, response) => {
    requests += 1;
    const fails = isFailing && (requests % 7 === 0 || (requests > 200 && requests < 300));
    if (!fails) accepted.push(String(headers['webhook-id']));
    response.writeHead(fails ? 503 : 200).end();
  });
  const replay = async (onlyFailed: boolean): Promise<number> => {
    const input = { endpointId: String(id), since: new Date(0).toISOString(), onlyFailed };
    return payloadOf(await gateway.mutate('replayWebhookDeliveries', input, 'count')).count;
  };
  const until = (count: number) =>
    eventually(() => {
      wake(gateway, id);
      expect(requests).toBeGreaterThan(count);
    });
  let queued = await replay(true);
  expect(queued).toBe(COUNT / 2 - 1);
  await until(350);
  queued += await replay(false);
  await until(600);
  queued += await replay(false);
  expect(await replay(true)).toBe(0);
  await workers[0]?.stop();
  await until(800);
  isFailing = false;
  await eventually(async () => {
    // What failed would wait for its back-off.
    await gateway.database.query(
      `update webhook_deliveries set next_attempt_at = now() - interval '1 second'
       where endpoint_id = $1 and status = 'pending' and next_attempt_at > now()`,
      [id],
    );
    wake(gateway, id);
    expect(await pending(id)).toBe(0);
  });
  expect(accepted).toHaveLength(queued);
  const counts = await gateway.database.query<{ of: string; count: number }>(
    `select 'requests' as of, sum(attempts)::int - $2 as count from webhook_deliveries where endpoint_id = $1
     union all select 'logged', count(*)::int - 1 from webhook_attempts union all
     select 'delivered', count(*)::int from webhook_deliveries where endpoint_id = $1 and status = 'delivered'`,
    [id, COUNT],
  );
  expect(Object.fromEntries(counts.map(row => [row.of, row.count]))).toEqual({
    requests,
    logged: requests,
    delivered: COUNT,
  });
});
