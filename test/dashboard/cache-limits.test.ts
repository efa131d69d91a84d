import { gql } from '@urql/core';
import type { Cache, UpdateResolver } from '@urql/exchange-graphcache';
import { expect, onTestFinished, test, vi } from 'vitest';
import { graphcacheSettings } from '../../src/client/urql.ts';
import { createListLimit, createThreadLimit } from '../../src/dashboard/api/cache-limits.ts';
import { createEventUpdate, edgeKeys } from '../../src/dashboard/api/thread-updates.ts';
import { createScriptedClient } from '../client/scripted-client.ts';

/** An open page reads threads, lists and events for days. */

const THREAD = gql`query Thread($id: ID!, $before: String) { conversation(id: $id) { id messages(last: 40, before: $before) {
  edges { cursor node { id } } pageInfo { hasPreviousPage startCursor } } } }`;
const LIST = gql`query List($search: String) { conversations(first: 30, search: $search) { nodes { id } pageInfo { hasNextPage endCursor } } }`;
const EVENTS = gql`subscription Events { events { __typename cursor ... on MessageEvent {
  message { id type createdAt conversation { id contact { id } lastMessage { id } } } } } }`;

/** The cache's own data, which it does not show. */
interface Store extends Cache {
  readonly data: { readonly records: { readonly base: ReadonlyMap<string, unknown> } };
}

function connect() {
  let store: Store | undefined;
  const update = createEventUpdate();
  const events: UpdateResolver = (result, args, cache, info) => {
    store = cache as Store;
    update(result, args, cache, info);
  };
  const scripted = createScriptedClient({
    ...graphcacheSettings,
    resolvers: { ...graphcacheSettings.resolvers, Conversation: {} },
    keys: { ...graphcacheSettings.keys, ...edgeKeys },
    updates: {
      Query: { conversation: createThreadLimit(), conversations: createListLimit() },
      Subscription: { events },
    },
  });
  return { ...scripted, objects: () => store?.data.records.base.size ?? 0 };
}

type Scripted = ReturnType<typeof connect>;

function readThread({ client, answer }: Scripted, id: string, before?: string): void {
  const subscription = client.query(THREAD, { id, before }).subscribe(() => undefined);
  const node = { __typename: 'Message', id: `${id} ${before}` };
  answer('Thread', {
    conversation: {
      __typename: 'Conversation',
      id,
      messages: {
        __typename: 'ConversationMessageConnection',
        edges: [{ __typename: 'MessageEdge', cursor: 'c', node }],
        pageInfo: { __typename: 'PageInfo', hasPreviousPage: true, startCursor: 'c' },
      },
    },
  });
  subscription.unsubscribe();
}

test('the threads that were read last are kept, and the older pages of the present one alone', () => {
  const scripted = connect();
  const has = (id: string, before?: string): boolean => scripted.client.readQuery(THREAD, { id, before }) !== null;
  readThread(scripted, 'C0');
  readThread(scripted, 'C0', 'a');
  readThread(scripted, 'C0', 'b');
  expect([has('C0'), has('C0', 'a'), has('C0', 'b')]).toEqual([true, true, true]);
  readThread(scripted, 'C1');
  expect([has('C0'), has('C0', 'a'), has('C0', 'b')]).toEqual([true, false, false]);
  for (let index = 2; index <= 30; index += 1) readThread(scripted, `C${index}`);
  expect([has('C0'), has('C10'), has('C11'), has('C30')]).toEqual([false, false, true, true]);
});

test('the lists that were read last are kept', () => {
  const { client, answer } = connect();
  const has = (search: string): boolean => client.readQuery(LIST, { search }) !== null;
  for (let index = 0; index <= 30; index += 1) {
    const subscription = client.query(LIST, { search: `s${index}` }).subscribe(() => undefined);
    const pageInfo = { __typename: 'PageInfo', hasNextPage: false, endCursor: null };
    const nodes = [{ __typename: 'Conversation', id: `C${index}` }];
    answer('List', { conversations: { __typename: 'ConversationConnection', nodes, pageInfo } });
    subscription.unsubscribe();
  }
  expect(['s0', 's20', 's21', 's30'].map(has)).toEqual([false, false, true, true]);
});

test('the cache keeps nothing of events about conversations that are in no list', async () => {
  // Graphcache drops nothing in tests.
  vi.stubEnv('NODE_ENV', 'production');
  onTestFinished(() => void vi.unstubAllEnvs());
  const { client, answer, objects } = connect();
  client.subscription(EVENTS, {}).subscribe(() => undefined);
  const tell = async (index: number): Promise<void> => {
    const lastMessage = { __typename: 'Message', id: `M${index}` };
    const contact = { __typename: 'Contact', id: `P${index}` };
    const conversation = { __typename: 'Conversation', id: `C${index}`, contact, lastMessage };
    const message = { ...lastMessage, type: 'TEXT', createdAt: '2026-11-28T08:00:00.000Z', conversation };
    answer('Events', { events: { __typename: 'MessageEvent', cursor: `c${index}`, message } }, true);
    await new Promise(done => setTimeout(done));
  };
  for (let index = 0; index < 100; index += 1) await tell(index);
  // While a list is read, the cache writes in layers.
  client.query(LIST, {}).subscribe(() => undefined);
  for (let index = 100; index < 200; index += 1) await tell(index);
  const pageInfo = { __typename: 'PageInfo', hasNextPage: false, endCursor: null };
  answer('List', { conversations: { __typename: 'ConversationConnection', nodes: [], pageInfo } });
  await tell(200);
  await expect.poll(objects).toBeLessThan(20);
});
