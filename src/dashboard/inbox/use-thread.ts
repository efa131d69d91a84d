import { useEffect, useRef } from 'react';
import { type CombinedError, useQuery } from 'urql';
import { THREAD_PAGE } from '../api/thread-updates.ts';
import { ThreadDocument, type ThreadQuery } from '../documents.generated.ts';
import { TIME_PASSED } from '../phone/clock-button.tsx';
import { CONVERSATION_REPLACED, MESSAGE_ADDED, STREAM_STARTED } from './inbox-stream.tsx';
import { useLasting } from './use-lasting.ts';
import { useWindowEvent } from './window-event.ts';

interface OpenedThread {
  readonly conversation: ThreadQuery['conversation'] | undefined;
  readonly isBusy: boolean;
  readonly error: CombinedError | undefined;
}

/**
 * A conversation with its last messages. What the gateway reads is followed by the events after it, but an event may overtake the answer,
 * which then overwrites it: the thread is read again.
 * @param conversationKey its databaseId, as in the address
 */
export function useThread(conversationKey: string): OpenedThread {
  const [{ data: present, fetching, stale, error }, refetch] = useQuery({
    query: ThreadDocument,
    variables: { id: conversationKey, last: THREAD_PAGE },
    requestPolicy: 'cache-and-network',
  });
  const isReading = useRef(false);
  isReading.current = fetching || stale;
  const isOvertaken = useRef(false);
  useEffect(() => {
    const note = (event: Event): void => {
      if (isReading.current && (event as CustomEvent<string>).detail === conversationKey) isOvertaken.current = true;
    };
    window.addEventListener(MESSAGE_ADDED, note);
    return () => window.removeEventListener(MESSAGE_ADDED, note);
  }, [conversationKey]);
  const reload = (): void => refetch({ requestPolicy: 'network-only' });
  const data = useLasting({ key: conversationKey, data: present, isBusy: fetching, error, reload });
  useWindowEvent(TIME_PASSED, reload);
  useWindowEvent(STREAM_STARTED, reload);
  const id = data?.conversation?.id;
  useWindowEvent(CONVERSATION_REPLACED, event => {
    if ((event as CustomEvent<string>).detail === id) reload();
  });
  useEffect(() => {
    if (fetching || stale || !isOvertaken.current) return;
    isOvertaken.current = false;
    refetch({ requestPolicy: 'network-only' });
  }, [fetching, stale, refetch]);
  return { conversation: data?.conversation, isBusy: fetching, error };
}
