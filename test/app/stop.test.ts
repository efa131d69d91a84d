import { describe, expect, test } from 'vitest';
import { follow, stream } from '../features/events/subscriber.ts';
import { durationOf } from '../support/durations.ts';
import { eventually, startGateway, type TestGateway } from '../support/gateway.ts';

/** The guarantee: stopping takes at most ten seconds, whatever hangs. */
const LIMIT_MS = 10_000;
const SEND =
  'mutation ($to: String!, $wait: Boolean) { sendMessage(input: { to: { phone: $to }, content: { text: { body: "Hi" } }, waitForAcceptance: $wait }) { message { databaseId status } userErrors { code message path } } }';

/** Stops only the gateway, not its database and network. @returns the duration */
const stopGateway = ({ gateway: { stop } }: TestGateway): Promise<number> => durationOf(stop);

describe.concurrent('a graceful stop', () => {
  test('with sends in flight is quick, and accepted messages are neither lost nor sent twice', async () => {
    const first = await startGateway({ emulator: { faults: { window: 'open', latencyMs: 50 } } });
    const people = Array.from({ length: 200 }, (_, index) => `+1415555${3_000 + index}`);
    const answers = people.map(
      async to =>
        (await first.graphql(SEND, { to }).catch(() => undefined))?.data?.sendMessage?.message?.databaseId as
          | string
          | undefined,
    );
    await eventually(() => expect(first.emulator.sent({ limit: 0 }).total).toBeGreaterThan(10));
    expect(await stopGateway(first)).toBeLessThan(5_000);
    const accepted = (await Promise.all(answers)).filter(id => id !== undefined);
    const rows = await first.database.query<{ id: string; status: string; waits: boolean }>(
      'select s.message_id as id, s.status, exists (select from outbox o where o.message_id = s.message_id) as waits from message_states s',
    );
    const { byCallbackData, duplicates } = first.emulator.sent({ limit: 0 });
    expect(duplicates).toBe(0);
    expect(accepted.filter(id => !rows.some(row => row.id === id))).toEqual([]);
    // Each message is either recorded as sent or still queued.
    for (const row of rows)
      expect({ ...row, taken: byCallbackData[row.id] ?? 0 }).toMatchObject(
        row.waits ? { status: 'queued' } : { taken: 1 },
      );
    expect(rows.filter(row => row.waits && byCallbackData[row.id] !== undefined)).toEqual([]);
    await first.stop();
  });

  test('does not wait for an unresponsive network', async () => {
    const first = await startGateway({
      emulator: { faults: { window: 'open', next: [{ timeout: true, count: 50 }] } },
    });
    const sent = await first.graphql(SEND, { to: '+14155554000' });
    const waiting = first.graphql(SEND, { to: '+14155554001', wait: true }).catch(() => undefined);
    await eventually(async () =>
      expect(await first.database.query('select 1 from outbox where attempts > 0')).toHaveLength(2),
    );
    expect(await stopGateway(first)).toBeLessThan(LIMIT_MS);
    await waiting;
    const id = sent.data.sendMessage.message.databaseId;
    expect(await first.database.query('select status from message_states where message_id = $1', [id])).toEqual([
      { status: 'queued' },
    ]);
    expect(await first.database.query('select 1 from outbox where message_id = $1', [id])).toHaveLength(1);
    await first.stop();
  });

  test('closes sockets with 1001, ends streams, and does not wait for stuck clients', async () => {
    const first = await startGateway();
    const { url, tenant } = first;
    const polite = await follow(url, tenant.token);
    const stuck = await follow(url, tenant.token);
    stuck.socket().pause();
    const sse = await stream(url, tenant.token);
    expect(await stopGateway(first)).toBeLessThan(LIMIT_MS);
    expect((await polite.closed).code).toBe(1001);
    await sse.ended;
    stuck.socket().terminate();
    await first.stop();
  });
});
