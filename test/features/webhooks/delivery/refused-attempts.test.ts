import { afterAll, beforeAll, expect, test } from 'vitest';
import { eventually, type TestGateway } from '../../../support/gateway.ts';
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

test('an attempt that the database refuses to store fails its own delivery only, which is not repeated', async () => {
  // All values that a receiver can cause are made storable; only a constraint is left to refuse one.
  await gateway.database.query(
    `alter table webhook_attempts add constraint refused check (response is distinct from 'refused')`,
  );
  const mixed = await createEndpoint(gateway, { url: `${receiver.url}/mixed`, events: ['group.*'] });
  // Of the same shard, so that one process writes the attempts of both.
  await gateway.database.query('alter table webhook_endpoints alter id restart with 4000');
  await gateway.database.query('update webhook_endpoints set id = 4004 where id = $1', [mixed.id]);
  const other = await createEndpoint(gateway, { url: `${receiver.url}/other`, events: ['group.*'] });
  receiver.answer((got, response) => {
    const isRefused = got.path === '/mixed' && got.text.includes('refused');
    response.writeHead(200).end(isRefused ? 'refused' : 'fine');
  });
  await makeGroups(gateway, ['first', 'refused', 'last']);
  const statesOf = async (id: number) =>
    (await deliveries(gateway, id)).map(({ status, error, attempts }) => [status, error, attempts.length]);
  const delivered = ['DELIVERED', null, 1];
  await eventually(async () => expect(await statesOf(other.id)).toEqual([delivered, delivered, delivered]));
  await eventually(async () =>
    expect(await statesOf(4004)).toEqual([
      delivered,
      ['FAILED', 'the result of an attempt (HTTP 200) could not be stored', 0],
      delivered,
    ]),
  );
  // The round after the refused one is over.
  await makeGroups(gateway, ['afterwards']);
  await eventually(async () => expect((await statesOf(4004)).at(-1)).toEqual(delivered));
  expect(receiver.at('/mixed').filter(({ text }) => text.includes('refused'))).toHaveLength(1);
  expect(
    gateway.logs.filter(({ msg }) => msg === 'the database refuses to store an attempt; its delivery fails'),
  ).toEqual([expect.objectContaining({ tenantId: gateway.tenant.id, endpointId: 4004, response: 200 })]);
});
