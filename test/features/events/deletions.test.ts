import { afterAll, beforeAll, expect, test } from 'vitest';
import { encodeGlobalId } from '../../../src/core/global-ids.ts';
import { dataOf, payloadOf } from '../../support/answers.ts';
import { eventually, startGateway, type TestGateway } from '../../support/gateway.ts';
import { harnessFor } from '../messages/inbound/harness.ts';
import { follow } from './subscriber.ts';

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startGateway({ emulator: { faults: { userIds: false } } });
});
afterAll(() => gateway.stop());

const subscribers = async (): Promise<number> =>
  (await gateway.gateway.resources.metrics.subscribers.get()).values[0]?.value ?? 0;

test('the deletion of a contact tells who follows its conversation, with conversations:read alone, live and from a cursor', async () => {
  const { tenant, write, query } = await harnessFor(gateway);
  for (const from of ['14155550101', '14155550102']) await write({ from, text: 'Hello' });
  const [gone, other] = await query<{ id: string; contact_id: string; channel_id: string }>(
    'select id, contact_id, channel_id from conversations where tenant_id = $1 order by id',
  );
  if (!gone || !other) throw new Error('There are no conversations.');
  const start = dataOf(await gateway.graphql('{ eventCursor }', {}, tenant.token)).eventCursor as string;
  const token = await gateway.addToken(tenant, { scopes: ['conversations:read'] });
  const types = ['conversation.deleted'];
  const filters = [gone, other].map(({ id }) => ({ conversationIds: [id] }));
  const before = await subscribers();
  const live = await Promise.all(filters.map(filter => follow(gateway.url, token, { types, filter })));
  await eventually(async () => expect(await subscribers()).toBe(before + 2));
  payloadOf(await gateway.mutate('deleteContact', { id: gone.contact_id }, 'deletedId', tenant.token));
  await eventually(() => expect(live.map(({ events }) => events.length)).toEqual([1, 0]));
  // The rest of the erasure has blanked older events of the person.
  const [again] = await Promise.all([follow(gateway.url, token, { types, filter: filters[0] ?? {}, after: start })]);
  await eventually(() => expect(again.events).toEqual(live[0]?.events));
  expect(again.events[0]?.data).toMatchObject({
    conversation: { id: Number(gone.id), contact_id: Number(gone.contact_id), channel_id: Number(gone.channel_id) },
  });
  expect(again.events[0]?.data).not.toHaveProperty('erased');
  const { deletedIds } = dataOf(
    await gateway.graphql('query ($a: String!) { changes(after: $a) { deletedIds } }', { a: start }, tenant.token),
  ).changes;
  expect(deletedIds.toSorted()).toEqual(
    [
      encodeGlobalId('Contact', tenant.id, gone.contact_id),
      encodeGlobalId('Conversation', tenant.id, gone.id),
    ].toSorted(),
  );
  await Promise.all([...live, again].map(one => one.stop()));
});
