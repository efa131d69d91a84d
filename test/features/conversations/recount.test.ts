import { setTimeout } from 'node:timers/promises';
import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { dataOf, payloadOf } from '../../support/answers.ts';
import { startGateway, type TestGateway } from '../../support/gateway.ts';
import { type Harness, harnessFor } from '../messages/inbound/harness.ts';

/** Whatever happens one after the other, the counts are what a simple count of unread messages says. */

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startGateway({ emulator: { faults: { userIds: false } } });
});
afterAll(() => gateway.stop());

const PEOPLE = ['14155551701', '14155551702', '14155551703'] as const;
/** Few, to be quick. */
const RUNS = 3;

const person = fc.nat(PEOPLE.length - 1);
const step = fc.oneof(
  { weight: 4, arbitrary: fc.record({ kind: fc.constant('write' as const), person }) },
  fc.record({ kind: fc.constantFrom('reply', 'read', 'close', 'snooze', 'open', 'delete'), person }),
  fc.record({ kind: fc.constant('merge' as const), person, other: person }),
);
type Step = typeof step extends fc.Arbitrary<infer T> ? T : never;

/** A contact, as the test counts. Several people share one after a merge. */
interface Known {
  unread: number;
}

const COUNTS = 'open pending snoozed closed unreadConversations unreadMessages';

async function run(harness: Harness, steps: readonly Step[]): Promise<void> {
  const { token } = harness.tenant;
  const known = new Map<string, Known>();
  const wamids = new Map<string, string>();
  const change = async (name: string, input: object): Promise<void> => {
    payloadOf(await gateway.mutate(name, input, 'userErrors { message }', token));
  };
  const rowOf = async (phone: string): Promise<{ contact_id: string; conversation_id: string }> => {
    const [row] = await harness.query<{ contact_id: string; conversation_id: string }>(
      `select m.contact_id::text, m.conversation_id::text from message_states s
       join messages m on m.tenant_id = s.tenant_id and m.id = s.message_id where s.tenant_id = $1 and s.wamid = $2`,
      wamids.get(phone),
    );
    if (!row) throw new Error(`No message of ${phone} is stored.`);
    return row;
  };
  for (const one of steps) {
    const phone = PEOPLE[one.person] ?? '';
    const contact = known.get(phone);
    if (one.kind === 'write') {
      wamids.set(phone, await harness.write({ from: phone, text: 'Hello' }));
      if (contact) contact.unread += 1;
      else known.set(phone, { unread: 1 });
      continue;
    }
    if (!contact) continue;
    const { contact_id: contactId, conversation_id: id } = await rowOf(phone);
    if (one.kind === 'reply')
      await change('sendMessage', { to: { conversationId: id }, content: { text: { body: 'Yes' } } });
    else if (one.kind === 'close') await change('updateConversation', { id, status: 'CLOSED' });
    else if (one.kind === 'snooze') await change('updateConversation', { id, status: 'SNOOZED' });
    else if (one.kind === 'open') await change('updateConversation', { id, status: 'OPEN' });
    else if (one.kind === 'read') {
      await change('markConversationRead', { id });
      contact.unread = 0;
    } else if (one.kind === 'delete') {
      await change('deleteContact', { id: contactId });
      for (const [each, of] of known) if (of === contact) known.delete(each);
      // The network's times are whole seconds: a message of the same second counts as one from before the deletion.
      await setTimeout(1_010 - (Date.now() % 1_000));
    } else if ('other' in one) {
      const second = known.get(PEOPLE[one.other] ?? '');
      if (!second || second === contact) continue;
      const { contact_id: formerId } = await rowOf(PEOPLE[one.other] ?? '');
      await change('mergeContacts', { id: contactId, fromIds: [formerId] });
      contact.unread += second.unread;
      for (const [each, of] of known) if (of === second) known.set(each, contact);
    }
  }
  const contacts = [...new Set(known.values())];
  const rows = await harness.query<{ status: string; unread_count: number; is_unread: boolean }>(
    'select status, unread_count, is_unread from conversations where tenant_id = $1',
  );
  const unread = contacts.map(one => one.unread).toSorted();
  expect(rows.map(row => row.unread_count).toSorted()).toEqual(unread);
  expect(rows.filter(row => row.is_unread !== row.unread_count > 0)).toEqual([]);
  const of = (status: string): number => rows.filter(row => row.status === status).length;
  const { conversationCounts } = dataOf(await gateway.graphql(`{ conversationCounts { ${COUNTS} } }`, {}, token));
  expect(conversationCounts).toEqual({
    open: of('open'),
    pending: 0,
    snoozed: of('snoozed'),
    closed: of('closed'),
    unreadConversations: unread.filter(count => count > 0).length,
    unreadMessages: unread.reduce((sum, count) => sum + count, 0),
  });
}

test('messages, replies, read marks, closes, merges and deletions leave the counts equal to a recount', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 12, maxLength: 20 }), async steps => {
      await run(await harnessFor(gateway), steps);
    }),
    { numRuns: RUNS, endOnFailure: true },
  );
});
