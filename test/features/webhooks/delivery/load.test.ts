import { afterAll, beforeAll, expect, test } from 'vitest';
import { eventually, type TestGateway } from '../../../support/gateway.ts';
import { type Receiver, startReceiver } from '../receiver.ts';
import { createEndpoint, makeGroups, startHooks } from '../setup.ts';

/** Endpoints of a shard that are worked on at a time, and how many of them may be slow. */
const [PLACES, SLOW] = [256, 192];

let gateway: TestGateway;
let receiver: Receiver;
beforeAll(async () => {
  [gateway, receiver] = await Promise.all([
    startHooks({ env: { PARLEY_WEBHOOK_TIMEOUT_MS: '1500' } }),
    startReceiver(),
  ]);
});
afterAll(async () => {
  await gateway.stop();
  await receiver.stop();
});

test('endpoints that hang, however many, leave places for those that respond', async () => {
  await gateway.database.query('alter table webhook_endpoints alter id restart with 4000');
  const alive = await createEndpoint(gateway, { url: `${receiver.url}/alive`, events: ['group.*'] });
  receiver.answer((got, response) => {
    if (got.path === '/alive') response.end();
  });
  // All in the shard of the one that answers, and in front of it.
  await gateway.database.query(
    `insert into webhook_endpoints (tenant_id, url, events, subscription, format, secret, listens_since, listens_since_seq, id)
     select w.tenant_id, $2 || n, w.events, sha256(n::text::bytea), w.format, w.secret, w.listens_since, w.listens_since_seq, w.id - 4 * n
     from webhook_endpoints w, generate_series(1, $3::int) n where w.id = $1`,
    [alive.id, `${receiver.url}/dead/`, PLACES + 50],
  );
  const deadBefore = async (round: number): Promise<number> => {
    const before = receiver.got.length;
    await makeGroups(gateway, [`crowd ${round}`]);
    await eventually(() => expect(receiver.at('/alive')).toHaveLength(round));
    const arrived = receiver.got.slice(before).findIndex(({ path }) => path === '/alive');
    return receiver.got.slice(before, before + arrived).length;
  };
  // They are not known yet: all places may be theirs for as long as one time-out.
  await deadBefore(1);
  await eventually(async () => {
    // Without the retries, the first of which come five seconds later.
    const [row] = await gateway.database.query<{ count: number }>(
      'select count(*)::int as count from webhook_attempts where number = 1',
    );
    expect(row?.count).toBe(PLACES + 51);
  });
  expect(await deadBefore(2)).toBeLessThanOrEqual(SLOW);
});
