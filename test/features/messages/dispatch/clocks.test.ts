import { afterAll, beforeAll, expect, test } from 'vitest';
import { dataOf } from '../../../support/answers.ts';
import { eventually, startGateway, type TestGateway } from '../../../support/gateway.ts';

/** Due times are the clock of the database: a process whose own clock is wrong sends neither early nor late. */

const MINUTES = [5, -5];
let gateways: TestGateway[];
beforeAll(async () => {
  gateways = await Promise.all(
    MINUTES.map(minutes =>
      startGateway({
        clock: { now: () => Date.now() + minutes * 60_000 },
        emulator: { faults: { window: 'open', pairLimit: false } },
      }),
    ),
  );
});
afterAll(() => Promise.all(gateways.map(gateway => gateway.stop())));

const SEND =
  'mutation ($to: String!) { sendMessage(input: { to: { phone: $to }, content: { text: { body: "Hi" } } }) { message { databaseId } userErrors { code message path } } }';

test.each(MINUTES.map((minutes, index) => [minutes, index]))(
  'with a process clock off by %d minutes a retry is due in seconds, and sent once',
  async (_minutes, index) => {
    const gateway = gateways[index];
    if (!gateway) throw new Error('There is no such gateway.');
    const to = '+14155557001';
    gateway.emulator.setFaults({ next: [{ errorCode: 130_429, to }] });
    const id = dataOf(await gateway.graphql(SEND, { to })).sendMessage.message.databaseId;
    const waits: number[] = [];
    await eventually(async () => {
      const rows = await gateway.database.query<{ wait: number }>(
        `select extract(epoch from next_attempt_at - clock_timestamp())::float8 as wait from outbox where message_id = $1`,
        [id],
      );
      waits.push(...rows.map(row => Math.abs(row.wait)));
      expect(rows).toEqual([]);
    });
    expect(gateway.emulator.sent({ limit: 0 }).byCallbackData[id]).toBe(1);
    expect(Math.max(0, ...waits)).toBeLessThan(60);
  },
);

test('a process whose clock is set back while it runs goes on sending', async () => {
  let offset = 0;
  const gateway = await startGateway({ clock: { now: () => Date.now() + offset } });
  try {
    const send = (to: string) => gateway.graphql(SEND, { to });
    const isSent = (to: string) =>
      eventually(() => expect(gateway.emulator.sent({ to, limit: 0 }).matched).toBe(1), 60_000);
    dataOf(await send('+14155557001'));
    await isSent('+14155557001');
    offset = -10 * 60_000;
    dataOf(await send('+14155557002'));
    await isSent('+14155557002');
  } finally {
    await gateway.stop();
  }
});
