import { afterAll, beforeAll, expect, test } from 'vitest';
import { cancelWaiting } from '../../../../src/features/messages/dispatch/cancel.ts';
import { dataOf } from '../../../support/answers.ts';
import { eventually, startGateway, type TestGateway } from '../../../support/gateway.ts';

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startGateway({ emulator: { faults: { window: 'open', pairLimit: false } } });
});
afterAll(() => gateway.stop());

const SEND =
  'mutation ($to: String!) { sendMessage(input: { to: { phone: $to }, content: { text: { body: "Hi" } } }) { message { databaseId } userErrors { code message path } } }';

test('cancellation concurrent with dispatch: each message is either cancelled or sent, with the matching event', async () => {
  const { db } = gateway.gateway.resources;
  const ids: string[] = [];
  const numbers = Array.from({ length: 120 }, (_, index) => index).values();
  const work = async (): Promise<void> => {
    for (const index of numbers) {
      const answer = await gateway.graphql(SEND, { to: `+14155558${String(index % 40).padStart(3, '0')}` });
      const id: string = dataOf(answer).sendMessage.message.databaseId;
      ids.push(id);
      if (index % 2 === 0)
        await db.transaction(trx => cancelWaiting(trx, gateway.tenant.id, { messageIds: [id] }, 'A test wants it.'));
    }
  };
  await Promise.all(Array.from({ length: 4 }, work));
  const rows = await eventually(async () => {
    const found = await gateway.database.query<{ id: string; status: string }>(
      'select message_id as id, status from message_states where message_id = any($1::uuid[])',
      [ids],
    );
    expect(found).toHaveLength(ids.length);
    expect(found.filter(({ status }) => status !== 'cancelled' && status !== 'read')).toEqual([]);
    return found;
  });
  expect(await gateway.database.query('select from outbox')).toEqual([]);
  const events = await gateway.database.query<{ id: string; type: string }>(
    `select payload->'message'->>'id' as id, type from events e where type like 'message.%' and type <> 'message.queued' order by e.xid, e.seq`,
  );
  const { byCallbackData } = gateway.emulator.sent({ limit: 0 });
  for (const { id, status } of rows) {
    const isCancelled = status === 'cancelled';
    expect(byCallbackData[id] ?? 0).toBe(isCancelled ? 0 : 1);
    const types = events.filter(event => event.id === id).map(({ type }) => type);
    // A message whose delivery is known before its acceptance is not reported as sent later.
    const order = isCancelled ? ['message.cancelled'] : ['message.sent', 'message.delivered', 'message.read'];
    expect(types).toEqual(order.filter(type => types.includes(type)));
    expect(types.at(-1)).toBe(`message.${status}`);
  }
});
