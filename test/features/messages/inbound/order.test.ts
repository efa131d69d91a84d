import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { timeOfId } from '../../../../src/core/ids.ts';
import { sign } from '../../../../src/network/cloud-api/signature.ts';
import { dataOf } from '../../../support/answers.ts';
import { eventually, startGateway, type TestGateway } from '../../../support/gateway.ts';

/** Messages of a conversation have one order: the network's second, then the order of arrival. */

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startGateway({ emulator: { faults: { window: 'open', pairLimit: false } } });
});
afterAll(() => gateway.stop());

const nowSeconds = (): number => Math.floor(Date.now() / 1_000);
let wamids = 0;
let phones = 0;
const nextPerson = (): string => `4915240${String(100_000 + ++phones)}`;

interface Written {
  readonly from: string;
  readonly body: string;
  /** In seconds. */
  readonly at: number;
}

/** One webhook with some messages, in this order. */
async function deliver(messages: readonly Written[]): Promise<void> {
  const { phoneNumberId, wabaId } = gateway.tenant;
  const value = {
    messaging_product: 'whatsapp',
    metadata: { display_phone_number: '15550780000', phone_number_id: phoneNumberId },
    contacts: [],
    messages: messages.map(({ from, body, at }) => ({
      from,
      id: `wamid.order-${++wamids}`,
      timestamp: String(at),
      type: 'text',
      text: { body },
    })),
  };
  const webhook = JSON.stringify({
    object: 'whatsapp_business_account',
    entry: [{ id: wabaId, changes: [{ field: 'messages', value }] }],
  });
  const answer = await fetch(`${gateway.url}/network/cloud-api/webhook`, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      'x-hub-signature-256': sign(Buffer.from(webhook), 'test-app-secret'),
    },
    body: webhook,
  });
  expect(answer.status).toBe(200);
}

/** Texts of a person's conversation from the top, once there are as many. */
async function thread(person: string, length: number): Promise<string[]> {
  const find = 'query ($search: String!) { contacts(search: $search) { nodes { id } } }';
  const read = `query ($id: ID!) { messages(first: 100, filter: { contactId: { eq: $id } }, orderBy: [{ field: ID, direction: ASC }]) { nodes { text } } }`;
  return eventually(async () => {
    const [contact] = dataOf(await gateway.graphql(find, { search: person })).contacts.nodes;
    const { messages } = dataOf(await gateway.graphql(read, { id: contact?.id }));
    const texts = messages.nodes.map(({ text }: { text: string }) => text);
    expect(texts).toHaveLength(length);
    return texts;
  });
}

test('messages of one second keep the order of arrival, in twenty concurrent conversations', async () => {
  const people = Array.from({ length: 20 }, nextPerson);
  const at = nowSeconds() - 30;
  const first = people.flatMap(from => ['1', '2', '3'].map(body => ({ from, body, at })));
  const second = people.flatMap(from => ['4', '5'].map(body => ({ from, body, at })));
  await deliver(first);
  await deliver(second);
  for (const person of people) expect(await thread(person, 5)).toEqual(['1', '2', '3', '4', '5']);
});

test('a late message is ordered by the second in which it was written', async () => {
  const person = nextPerson();
  const at = nowSeconds() - 60;
  await deliver([{ from: person, body: 'written second', at: at + 1 }]);
  await deliver([{ from: person, body: 'written first', at }]);
  expect(await thread(person, 2)).toEqual(['written first', 'written second']);
});

test('a message dated in the future is ordered by its arrival', async () => {
  const person = nextPerson();
  const send = async (text: string) =>
    dataOf(
      await gateway.graphql(
        'mutation ($to: String!, $text: String!) { sendMessage(input: { to: { phone: $to }, content: { text: { body: $text } } }) { message { id } userErrors { code message path } } }',
        { to: `+${person}`, text },
      ),
    );
  await send('ours, before');
  await deliver([{ from: person, body: 'from next year', at: nowSeconds() + 365 * 86_400 }]);
  await thread(person, 2);
  await send('ours, after');
  await deliver([{ from: person, body: 'from now', at: nowSeconds() }]);
  expect(await thread(person, 4)).toEqual(['ours, before', 'from next year', 'ours, after', 'from now']);
});

test('ids of inbound messages are UUIDv7, ordered by time and then by sequence', async () => {
  const place = fc.record({
    ms: fc.integer({ min: 0, max: 2 ** 47 }),
    number: fc.oneof(fc.integer({ min: 0, max: 9 }), fc.integer({ min: 0, max: Number.MAX_SAFE_INTEGER })),
  });
  await fc.assert(
    fc.asyncProperty(
      fc.array(
        fc.oneof(
          place,
          place.map(({ number }) => ({ ms: 7, number })),
        ),
        { minLength: 2 },
      ),
      async places => {
        const rows = await gateway.database.query<{ id: string; ms: string; number: string }>(
          `select message_id_at(p.ms, p.number) as id, p.ms, p.number from unnest($1::bigint[], $2::bigint[]) p (ms, number) order by id`,
          [places.map(({ ms }) => ms), places.map(({ number }) => number)],
        );
        for (const { id, ms } of rows) {
          expect(id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
          expect(timeOfId(id)).toBe(Number(ms));
        }
        const order = rows.map(row => [Number(row.ms), Number(row.number)]);
        expect(order).toEqual([...order].sort(([a = 0, b = 0], [c = 0, d = 0]) => a - c || b - d));
      },
    ),
    { numRuns: 50 },
  );
});
