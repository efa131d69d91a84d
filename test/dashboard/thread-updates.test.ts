import { gql } from '@urql/core';
import { expect, test } from 'vitest';
import { graphcacheSettings } from '../../src/client/urql.ts';
import { appendFromSend, createEventUpdate, edgeKeys, THREAD_PAGE } from '../../src/dashboard/api/thread-updates.ts';
import { createScriptedClient } from '../client/scripted-client.ts';

const THREAD = gql`query Thread { conversation(id: "C1") { id messages(last: 40) {
  edges { cursor node { id createdAt } } pageInfo { hasPreviousPage startCursor } } } }`;
const EVENTS = gql`subscription Events { events { __typename cursor ... on MessageEvent { message { id type createdAt conversation { id } } } } }`;
const SEND = gql`mutation Send { sendMessage(input: {}) { message { id type createdAt conversation { id } } } }`;

const at = (second: number) => `2026-11-28T08:00:${String(second).padStart(2, '0')}.000Z`;
const node = (second: number) => ({ __typename: 'Message', id: `M${second}`, createdAt: at(second) });
const thread = (...seconds: number[]) => ({
  conversation: {
    __typename: 'Conversation',
    id: 'C1',
    messages: {
      __typename: 'ConversationMessageConnection',
      edges: seconds.map(second => ({ __typename: 'MessageEdge', cursor: String(second), node: node(second) })),
      pageInfo: { __typename: 'PageInfo', hasPreviousPage: (seconds[0] ?? 1) > 1, startCursor: String(seconds[0]) },
    },
  },
});
const told = (second: number) => ({
  ...node(second),
  type: 'TEXT',
  conversation: { __typename: 'Conversation', id: 'C1' },
});
const event = (second: number) => ({
  events: { __typename: 'MessageEvent', cursor: `c${second}`, message: told(second) },
});

function connect() {
  const { client, answer } = createScriptedClient({
    ...graphcacheSettings,
    keys: { ...graphcacheSettings.keys, ...edgeKeys },
    updates: {
      Subscription: { events: createEventUpdate() },
      Mutation: { sendMessage: appendFromSend },
    },
  });
  let shown: string[] = [];
  const seen = (data: { conversation?: { messages: { edges: { node: { id: string } }[] } } } | undefined): void => {
    shown = data?.conversation?.messages.edges.map(({ node: { id } }) => id) ?? [];
  };
  const open = () =>
    client.query(THREAD, {}, { requestPolicy: 'cache-and-network' }).subscribe(({ data }) => seen(data));
  client.subscription(EVENTS, {}).subscribe(() => undefined);
  return { client, answer, open, shown: () => shown };
}

test('a page has the size that the updates look for', () => expect(THREAD_PAGE).toBe(40));

test('a message whose event comes after the answer to a later send is shown, before that one', async () => {
  const { client, answer, open, shown } = connect();
  open();
  answer('Thread', thread(1, 2));
  client.mutation(SEND, {}).subscribe(() => undefined);
  answer('Send', { sendMessage: { __typename: 'SendMessagePayload', message: told(5) } });
  answer('Events', event(4), true);
  await expect.poll(shown).toEqual(['M1', 'M2', 'M4', 'M5']);
});

test('an event of a message that is older than the loaded ones adds nothing', async () => {
  const { answer, open, shown } = connect();
  open();
  answer('Thread', thread(10, 11));
  answer('Events', event(3), true);
  answer('Events', event(12), true);
  await expect.poll(shown).toEqual(['M10', 'M11', 'M12']);
});

test('a message that is older than the only one of its thread is shown before it', async () => {
  const { answer, open, shown } = connect();
  open();
  answer('Thread', thread());
  answer('Events', event(5), true);
  answer('Events', event(4), true);
  await expect.poll(shown).toEqual(['M4', 'M5']);
});
