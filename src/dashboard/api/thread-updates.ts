import type { Cache, KeyGenerator, UpdateResolver } from '@urql/exchange-graphcache';
import { gql } from 'urql';
import type {
  InboxEventsSubscription,
  RetryMessageMutation,
  SendMessageMutation,
  UpdateConversationMutation,
} from '../documents.generated.ts';
import { createEventRelease } from './cache-limits.ts';

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

/** Adds the message of an event to the loaded thread of its conversation, and removes a conversation that is gone from the loaded lists. */
export function createEventUpdate(): UpdateResolver {
  const release = createEventRelease();
  return (result, _args, cache) => {
    const { events } = result as unknown as InboxEventsSubscription;
    if (events.__typename === 'ConversationEvent') {
      const goneId = events.type === 'CONVERSATION_DELETED' ? events.subjectId : events.formerId;
      if (goneId) removeFromLists(cache, goneId);
    }
    if (events.__typename !== 'MessageEvent' || !events.message) return;
    appendToThread(cache, events.message);
    release(cache, events.message.id);
  };
}

/** Does the same for a message that this page has sent: its event may arrive later than the answer. */
export const appendFromSend: UpdateResolver = (result, _args, cache) => {
  const { sendMessage, retryMessage } = result as unknown as Partial<SendMessageMutation & RetryMessageMutation>;
  const message = (sendMessage ?? retryMessage)?.message;
  if (message) appendToThread(cache, message);
};

/** Does the same for a message that kept a conversation from being closed: the conflict may arrive before the event. */
export const appendFromConflict: UpdateResolver = (result, _args, cache) => {
  const { updateConversation } = result as unknown as UpdateConversationMutation;
  for (const error of updateConversation?.userErrors ?? [])
    if (error.__typename === 'ConflictError' && error.current?.__typename === 'Message')
      appendToThread(cache, error.current);
};

/**
 * Links the message to its place in the last page of the thread, if that is loaded. The answer to a send may arrive before the event of a
 * message that came a moment earlier. Not with `updateQuery`: while something is written, Graphcache reads the fragments of every member
 * of a union, and finds none complete.
 */
function appendToThread(cache: Cache, { id, type, createdAt, conversation }: NewMessage): void {
  if (!conversation || type === 'REACTION') return;
  const thread = cache.resolve({ __typename: 'Conversation', id: conversation.id }, 'messages', { last: THREAD_PAGE });
  const linked = typeof thread === 'string' ? cache.resolve(thread, 'edges') : undefined;
  if (typeof thread !== 'string' || !Array.isArray(linked)) return;
  const edges = linked.map(String);
  const key = `MessageEdge:${id}`;
  if (edges.includes(key)) return;
  const place = edges.findLastIndex(edge => !(createdAtOf(cache, edge) > createdAt)) + 1;
  // The message belongs to an older page, which is not loaded.
  if (place === 0 && hasOlder(cache, thread)) return;
  cache.writeFragment(EDGE, { __typename: 'MessageEdge', cursor: '', node: { __typename: 'Message', id } });
  cache.link(thread, 'edges', edges.toSpliced(place, 0, key));
}

/** ISO 8601; '' if the cache does not have it. */
function createdAtOf(cache: Cache, edge: string): string {
  const node = cache.resolve(edge, 'node');
  return typeof node === 'string' ? String(cache.resolve(node, 'createdAt') ?? '') : '';
}

function hasOlder(cache: Cache, thread: string): boolean {
  const pageInfo = cache.resolve(thread, 'pageInfo');
  return typeof pageInfo === 'string' && cache.resolve(pageInfo, 'hasPreviousPage') === true;
}

/** Later pages are not read again with the first one: there a conversation would stay. */
function removeFromLists(cache: Cache, conversationId: string): void {
  const key = cache.keyOfEntity({ __typename: 'Conversation', id: conversationId });
  for (const { fieldName, fieldKey } of cache.inspectFields('Query')) {
    const list = fieldName === 'conversations' ? cache.resolve('Query', fieldKey) : undefined;
    const linked = typeof list === 'string' ? cache.resolve(list, 'nodes') : undefined;
    if (typeof list !== 'string' || !Array.isArray(linked)) continue;
    const nodes = linked.map(String);
    if (key !== null && nodes.includes(key))
      cache.link(
        list,
        'nodes',
        nodes.filter(node => node !== key),
      );
  }
}
