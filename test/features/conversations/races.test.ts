import { afterAll, beforeAll, expect, test } from 'vitest';
import { recordBotDecisions } from '../../../src/features/conversations/record-bot-decisions.ts';
import { startGateway, type TestGateway } from '../../support/gateway.ts';
import { harnessFor } from '../messages/inbound/harness.ts';

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startGateway({ emulator: { faults: { userIds: false } } });
});
afterAll(() => gateway.stop());

test('messages, sends, changes, reads and bots on the same conversations cause no deadlock, and lose no count', async () => {
  const harness = await harnessFor(gateway);
  const people = Array.from({ length: 6 }, (_, index) => `1415555060${index}`);
  for (const from of people) await harness.write({ from, text: 'First' });
  const rows = await harness.query<{ id: string; contact_id: string; channel_id: string }>(
    'select id, contact_id, channel_id from conversations where tenant_id = $1',
  );
  const ask = (document: string, variables: object) => gateway.graphql(document, variables, harness.tenant.token);
  const ROUNDS = 6;
  /** All people in one webhook, each round in another order. */
  const together = (round: number) => {
    const order = round % 2 === 0 ? people : people.toReversed();
    return harness.tell('messages', {
      contacts: order.map(wa_id => ({ wa_id })),
      messages: order.map(from => ({
        from,
        id: `wamid.${from}.${round}`,
        timestamp: String(Math.floor(Date.now() / 1_000)),
        type: 'text',
        text: { body: `Round ${round}` },
      })),
    });
  };
  const { db } = gateway.gateway.resources;
  const work = Array.from({ length: ROUNDS }, (_, round) => [
    together(round),
    ...rows.map(({ id }) =>
      ask('mutation ($input: UpdateConversationInput!) { updateConversation(input: $input) { userErrors { code } } }', {
        input: { id, status: round % 2 === 0 ? 'PENDING' : 'CLOSED' },
      }),
    ),
    db.transaction(trx =>
      recordBotDecisions(
        trx,
        harness.tenant.id,
        rows.toReversed().map(row => ({
          contactId: Number(row.contact_id),
          channelId: Number(row.channel_id),
          isAnswered: round % 2 === 0,
        })),
        new Date().toISOString(),
      ),
    ),
    ...people.map(from =>
      fetch(`${gateway.url}/api/v2/messages/text`, {
        method: 'POST',
        headers: {
          authorization: `Bearer ${harness.tenant.token}`,
          'content-type': 'application/json',
          prefer: 'respond-async',
        },
        body: JSON.stringify({ phone: `+${from}`, message: 'Hello' }),
      }),
    ),
  ]).flat();
  await Promise.all(work);
  await harness.settled();
  const [database] = await gateway.database.query<{ deadlocks: number }>(
    'select deadlocks::int as deadlocks from pg_stat_database where datname = current_database()',
  );
  expect(database?.deadlocks).toBe(0);
  const counts = await harness.query<{ unread_count: number }>(
    'select unread_count from conversations where tenant_id = $1',
  );
  expect(counts.map(row => row.unread_count)).toEqual(people.map(() => 1 + ROUNDS));
  const wrong = await harness.query(
    `select v.id from conversations v where v.tenant_id = $1 and v.last_message_id is distinct from (
       select m.id from messages m where m.tenant_id = v.tenant_id and m.conversation_id = v.id order by m.id desc limit 1)`,
  );
  expect(wrong).toEqual([]);
});
