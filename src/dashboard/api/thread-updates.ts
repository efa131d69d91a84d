import type { Cache, KeyGenerator, UpdateResolver } from '@urql/exchange-graphcache';
import { gql } from 'urql';
import type { InboxEventsSubscription, RetryMessageMutation, SendMessageMutation } from '../documents.generated.ts';

/** Messages of a page of a thread. */
export const THREAD_PAGE = 40;

type NewMessage = NonNullable<NonNullable<SendMessageMutation['sendMessage']>['message']>;

/** An edge has the identity of its message, so that one can be added to a page. */
export const edgeKeys: Readonly<Record<string, KeyGenerator>> = {
  MessageEdge: edge => (edge['node'] as { readonly id?: string } | undefined)?.id ?? null,
};

const EDGE = gql`
  fragment NewEdge on MessageEdge {
    __typename
    cursor
    node {
      __typename
      id
    }
  }
`;

/** Puts a message that an event tells into the thread that shows its conversation. */
export const appendFromEvent: UpdateResolver = (result, _args, cache) => {
  const { events } = result as unknown as InboxEventsSubscription;
  if (events.__typename === 'MessageEvent' && events.message) appendToThread(cache, events.message);
};

/** The same for a message that this page sends, which its event may follow later. */
export const appendFromSend: UpdateResolver = (result, _args, cache) => {
  const { sendMessage, retryMessage } = result as unknown as Partial<SendMessageMutation & RetryMessageMutation>;
  const message = (sendMessage ?? retryMessage)?.message;
  if (message) appendToThread(cache, message);
};

/**
 * Links the message to the last page of the thread, if that is loaded. Not with `updateQuery`: while something is written, Graphcache
 * reads the fragments of every member of a union, and finds none complete.
 */
function appendToThread(cache: Cache, { id, type, createdAt, conversation }: NewMessage): void {
  if (!conversation || type === 'REACTION') return;
  const thread = cache.resolve({ __typename: 'Conversation', id: conversation.id }, 'messages', { last: THREAD_PAGE });
  const edges = typeof thread === 'string' ? cache.resolve(thread, 'edges') : undefined;
  if (typeof thread !== 'string' || !Array.isArray(edges)) return;
  const key = `MessageEdge:${id}`;
  const lastNode = edges.length > 0 ? cache.resolve(String(edges[edges.length - 1]), 'node') : undefined;
  const last = typeof lastNode === 'string' ? cache.resolve(lastNode, 'createdAt') : undefined;
  // An event about a message that is older than what is loaded.
  if (edges.includes(key) || (typeof last === 'string' && last > createdAt)) return;
  cache.writeFragment(EDGE, { __typename: 'MessageEdge', cursor: '', node: { __typename: 'Message', id } });
  cache.link(thread, 'edges', [...edges.map(String), key]);
}
