import { afterAll, beforeAll, expect, test } from 'vitest';
import { endWaiting } from '../../../../src/features/webhooks/delivery/queue.sql.ts';
import { payloadOf } from '../../../support/answers.ts';
import { eventually, type TestGateway } from '../../../support/gateway.ts';
import { goneAfter, type Receiver, startReceiver } from '../receiver.ts';
import { createEndpoint, deliveries, makeGroups, startHooks } from '../setup.ts';

/** An endpoint that is enabled while the queue from before it was disabled is being ended. */

let gateway: TestGateway;
let receiver: Receiver;
beforeAll(async () => {
  [gateway, receiver] = await Promise.all([startHooks(), startReceiver()]);
});
afterAll(async () => {
  await gateway.stop();
  await receiver.stop();
});

/** Queues deliveries that are due in an hour: ended when the endpoint is disabled, but not attempted before. */
const queue = (endpointId: number, count: number): Promise<unknown> =>
  gateway.database.query(
    `insert into webhook_deliveries (tenant_id, id, endpoint_id, shard, event_id, event_type, status, next_attempt_at, created_at)
     select $1, uuid_v7(now(), n), $2::bigint, $2::bigint % 4, gen_random_uuid(), 'group.created', 'pending', now() + interval '1 hour', now()
     from generate_series(1, $3::int) n`,
    [gateway.tenant.id, endpointId, count],
  );

/** The queued deliveries by status and error. */
const queued = (endpointId: number) =>
  gateway.database.query<{ status: string; error: string | null; count: number }>(
    `select status, error, count(*)::int as count from webhook_deliveries
     where endpoint_id = $1 and event_id not in (select id from events) group by 1, 2`,
    [endpointId],
  );

const enable = async (id: number, isEnabled: boolean): Promise<void> => {
  payloadOf(await gateway.mutate('updateWebhookEndpoint', { id: String(id), isEnabled }, 'webhookEndpoint { id }'));
};

test('events after the enabling are delivered, those queued before the disabling are not', async () => {
  const { id } = await createEndpoint(gateway, { url: `${receiver.url}/again`, events: ['group.*'] });
  const backlog = 10_000;
  await queue(id, backlog);
  await enable(id, false);
  await eventually(async () => expect((await queued(id)).some(({ status }) => status === 'failed')).toBe(true));
  await enable(id, true);
  await makeGroups(gateway, ['again']);
  await eventually(() => expect(receiver.at('/again').map(({ body }) => body.data.group.name)).toEqual(['again']));
  expect(await queued(id)).toEqual([{ status: 'failed', error: 'the endpoint is disabled', count: backlog }]);
});

test('a queue that nobody has begun to end ends with the enabling', async () => {
  const { id } = await createEndpoint(gateway, { url: `${receiver.url}/quick`, events: ['group.*'] });
  await queue(id, 3);
  // Nobody is told of it.
  await gateway.database.query(
    `update webhook_endpoints set enabled = false, disabled_reason = 'by_hand' where id = $1`,
    [id],
  );
  await enable(id, true);
  expect(await queued(id)).toEqual([{ status: 'failed', error: 'the endpoint is disabled', count: 3 }]);
});

test('a workflow that subscribes again, when its endpoint was gone, gets events from then on only', async () => {
  const input = { url: `${receiver.url}/gone`, events: ['group.*'] };
  const { id } = await createEndpoint(gateway, input);
  receiver.answer(goneAfter(Promise.resolve(), got => got.body.data.group.name === 'gone'));
  await makeGroups(gateway, ['gone']);
  await eventually(async () => expect(await deliveries(gateway, id)).toMatchObject([{ status: 'FAILED' }]));
  await queue(id, 3);
  const created = payloadOf(
    await gateway.mutate('createWebhookEndpoint', input, 'webhookEndpoint { isEnabled } isNew'),
  );
  expect(created).toMatchObject({ isNew: false, webhookEndpoint: { isEnabled: true } });
  expect(await queued(id)).toEqual([{ status: 'failed', error: 'the endpoint is disabled', count: 3 }]);
  await makeGroups(gateway, ['back']);
  await eventually(() =>
    expect(receiver.at('/gone').map(({ body }) => body.data.group.name)).toEqual(['gone', 'back']),
  );
});

test('a queue is ended only while its endpoint is disabled or deleted, or its tenant suspended', async () => {
  const { id } = await createEndpoint(gateway, { url: `${receiver.url}/live`, events: ['group.*'] });
  await queue(id, 2);
  const { db } = gateway.gateway.resources;
  const end = () => endWaiting(db.write, gateway.tenant.id, id % 4, id, 'ended', 1);
  expect(await end()).toBe(0);
  const suspend = `update tenants set status = $2 where tenant_id = $1`;
  await gateway.database.query(suspend, [gateway.tenant.id, 'suspended']);
  expect(await end()).toBe(1);
  await gateway.database.query(suspend, [gateway.tenant.id, 'active']);
  expect(await end()).toBe(0);
  await gateway.database.query('delete from webhook_endpoints where id = $1', [id]);
  // The sweep may be faster.
  await end();
  await eventually(async () => expect((await queued(id)).some(({ status }) => status === 'pending')).toBe(false));
});
