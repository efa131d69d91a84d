import { Webhook } from 'standardwebhooks';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { MINUTE, SECOND } from '../../../../src/platform/clock.ts';
import { dataOf } from '../../../support/answers.ts';
import { eventually, type TestGateway } from '../../../support/gateway.ts';
import { type Receiver, startReceiver } from '../receiver.ts';
import { attempted, createEndpoint, makeGroups, startHooks } from '../setup.ts';

/** Due times are the clock of the database: a process whose own clock is wrong delivers neither early nor late. */

const MINUTES = [5, -5];
let gateways: TestGateway[];
let receiver: Receiver;
beforeAll(async () => {
  [receiver, ...gateways] = await Promise.all([
    startReceiver(),
    ...MINUTES.map(minutes => startHooks({ clock: { now: () => Date.now() + minutes * MINUTE } })),
  ]);
});
afterAll(async () => {
  await Promise.all(gateways.map(gateway => gateway.stop()));
  await receiver.stop();
});

describe.each(MINUTES.map((minutes, index) => ({ minutes, index })))(
  'a clock that is $minutes minutes off',
  ({ minutes, index }) => {
    const gatewayOf = (): TestGateway => gateways[index] as TestGateway;

    test('a failed delivery is due again after its back-off, neither earlier nor minutes later', async () => {
      const gateway = gatewayOf();
      const path = `/failing/${minutes}`;
      const { id } = await createEndpoint(gateway, { url: receiver.url + path, events: ['group.*'] });
      const times: number[] = [];
      receiver.answer((got, response) => {
        // Deliveries of the other gateway, to which the last test's groups went too, may still come.
        if (got.path === path) times.push(performance.now());
        response.writeHead(got.path === path && times.length === 1 ? 503 : 200).end();
      });
      await makeGroups(gateway, [`failing ${minutes}`]);
      const [row] = await attempted(gateway, id, 1);
      const [waiting] = await gateway.database.query<{ wait: number | null }>(
        'select extract(epoch from next_attempt_at - clock_timestamp())::float8 as wait from webhook_deliveries where id = $1',
        [row.databaseId],
      );
      expect(waiting?.wait ?? 0).toBeLessThan(6);
      const [told] = await gateway.database.query<{ ms: number }>(
        `select extract(epoch from (payload -> 'delivery' ->> 'next_attempt_at')::timestamptz - clock_timestamp())::float8 * 1000 as ms
       from events where type = 'webhook.delivery_attempted' and payload -> 'delivery' ->> 'id' = $1 order by xid, seq limit 1`,
        [row.databaseId],
      );
      expect(Math.abs(told?.ms ?? Number.NaN)).toBeLessThan(MINUTE);
      const [delivered] = await attempted(gateway, id, 2);
      expect(delivered.status).toBe('DELIVERED');
      expect((times[1] ?? 0) - (times[0] ?? 0)).toBeGreaterThanOrEqual(5 * SECOND);
    });

    test('the old secret signs during the requested overlap', async () => {
      const gateway = gatewayOf();
      const path = `/rotated/${minutes}`;
      receiver.answer(200);
      const { id, secret: old } = await createEndpoint(gateway, { url: receiver.url + path, events: ['group.*'] });
      dataOf(await gateway.mutate('rotateWebhookSecret', { id: String(id), overlapHours: 1 }, 'secret'));
      // By the clock of the database a minute is left, or it ended a minute ago.
      for (const [left, isSigned] of [
        ['1 minute', true],
        ['-1 minute', false],
      ] as const) {
        await gateway.database.query(
          'update webhook_endpoints set previous_secret_until = clock_timestamp() + $2::interval where id = $1',
          [id, left],
        );
        const before = receiver.at(path).length;
        await makeGroups(gateway, [`rotated ${minutes} ${left}`]);
        const got = await eventually(() => {
          expect(receiver.at(path)).toHaveLength(before + 1);
          return receiver.at(path).at(-1);
        });
        const headers = got?.headers as Record<string, string>;
        const at = new Date(Number(headers['webhook-timestamp']) * SECOND);
        const signed = new Webhook(old).sign(headers['webhook-id'] ?? '', at, got?.text ?? '');
        expect((headers['webhook-signature'] ?? '').split(' ').includes(signed)).toBe(isSigned);
      }
    });
  },
);
