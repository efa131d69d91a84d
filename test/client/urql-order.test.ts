import { gql } from '@urql/core';
import { expect, test } from 'vitest';
import { graphcacheSettings } from '../../src/client/urql.ts';
import { createScriptedClient } from './scripted-client.ts';

const LIST = gql`query List { messages(first: 1) { nodes { id status readAt } } }`;
const COUNTS = gql`query Again($n: Int) { messages(first: $n) { nodes { id status readAt } } }`;
const SEND = gql`mutation Send { sendMessage(input: {}) { message { id status readAt } } }`;
const EVENTS = gql`subscription Events { events { ... on MessageEvent { cursor message { id status readAt } } } }`;

const message = (status: string, readAt: string | null = null) => ({ __typename: 'Message', id: 'M1', status, readAt });
const list = (status: string) => ({ messages: { __typename: 'MessageConnection', nodes: [message(status)] } });
const sent = (status: string) => ({ sendMessage: { __typename: 'MessagePayload', message: message(status) } });
const event = (status: string, readAt?: string) => ({
  events: { __typename: 'MessageEvent', cursor: status, message: message(status, readAt) },
});

function connect() {
  const { client, answer } = createScriptedClient(graphcacheSettings);
  const shown: unknown[] = [];
  const events: unknown[] = [];
  const seen = (data: { messages?: { nodes: unknown[] } } | undefined) => void shown.push(data?.messages?.nodes[0]);
  client.query(LIST, {}, { requestPolicy: 'cache-and-network' }).subscribe(({ data }) => seen(data));
  client.subscription(EVENTS, {}).subscribe(({ data }) => void events.push(data?.events.cursor));
  return { client, answer, shown, events };
}

test('an event is shown although a mutation runs and a list was read after the event before', async () => {
  const { client, answer, shown, events } = connect();
  answer('List', list('QUEUED'));
  client.mutation(SEND, {}).subscribe(() => undefined);
  answer('Events', event('SENT'), true);
  client.query(COUNTS, { n: 5 }, { requestPolicy: 'network-only' }).subscribe(() => undefined);
  answer('Again', list('DELIVERED'));
  answer('Events', event('READ', '08:02'), true);
  await expect.poll(() => shown.at(-1)).toMatchObject({ status: 'READ', readAt: '08:02' });
  expect(events).toEqual(['SENT', 'READ']);
  answer('Send', sent('QUEUED'));
  await expect.poll(() => shown.at(-1)).toMatchObject({ status: 'READ', readAt: '08:02' });
});

test('an answer that was read before an event, and comes after it, does not take the message back', async () => {
  const { client, answer, shown } = connect();
  answer('List', list('QUEUED'));
  client.query(COUNTS, { n: 5 }, { requestPolicy: 'network-only' }).subscribe(() => undefined);
  answer('Events', event('READ', '08:02'), true);
  answer('Again', list('SENT'));
  await expect.poll(() => shown.at(-1)).toMatchObject({ status: 'READ', readAt: '08:02' });
});
