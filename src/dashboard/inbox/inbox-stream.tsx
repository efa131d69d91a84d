import { use, useCallback, useEffect, useRef, useState } from 'react';
import { type CombinedError, useClient, useSubscription } from 'urql';
import { backoffMs } from '../../client/backoff.ts';
import { OTHER_VERSION } from '../api/graphql.ts';
import {
  type ConversationRowFragment,
  type EventType,
  InboxEventsDocument,
  InboxStartDocument,
} from '../documents.generated.ts';
import { ConnectionContext } from '../session/connection.ts';
import { useTexts } from '../texts/texts.tsx';
import { failureTexts } from '../ui/user-errors.tsx';
import { codeOf, mayPass } from './use-lasting.ts';
import { reportReaction } from './use-reaction.ts';

const TYPES: readonly EventType[] = [
  'MESSAGE_RECEIVED',
  'MESSAGE_SCHEDULED',
  'MESSAGE_QUEUED',
  'MESSAGE_SENT',
  'MESSAGE_DELIVERED',
  'MESSAGE_READ',
  'MESSAGE_FAILED',
  'MESSAGE_CANCELLED',
  'MESSAGE_EDITED',
  'MESSAGE_REVOKED',
  'MESSAGE_REACTION',
  'CONVERSATION_CREATED',
  'CONVERSATION_UPDATED',
  'CONVERSATION_DELETED',
];
/** Events that change how a message looks, and no list. */
const STATUS_TYPES: ReadonlySet<EventType> = new Set([
  'MESSAGE_SENT',
  'MESSAGE_DELIVERED',
  'MESSAGE_READ',
  'MESSAGE_FAILED',
  'MESSAGE_EDITED',
  'MESSAGE_REVOKED',
  'MESSAGE_REACTION',
]);

/** Event on `window`: the stream has begun. What was read before may lack changes until then. */
export const STREAM_STARTED = 'parley:stream-started';
/** Event on `window`: a conversation has a new message. Its detail is the conversation's databaseId. */
export const MESSAGE_ADDED = 'parley:message-added';

/**
 * Event on `window`: a conversation is no longer what it was, because its contact was deleted or a merge made one conversation of two. Its
 * detail is the conversation's id; after a merge, each of the two has an event.
 */
export const CONVERSATION_REPLACED = 'parley:conversation-replaced';

interface Props {
  /** A conversation changed (null: it is gone); `isStatusOnly` if a list that has it already shows the change. */
  readonly onChange: (id: string, row: ConversationRowFragment | null, isStatusOnly: boolean) => void;
}

/**
 * Follows the events of the inbox: the cache takes their objects. A stream that the gateway ends, because the page read too slowly or
 * slept for longer than events are kept, begins anew. A component of its own, so that an event renders nothing else.
 */
export function InboxStream({ onChange }: Props) {
  const { t } = useTexts();
  const isConnected = use(ConnectionContext);
  const graphql = useClient();
  const [after, setAfter] = useState<string>();
  const [attempt, setAttempt] = useState(0);
  const [refusal, setRefusal] = useState<CombinedError>();
  const failures = useRef(0);
  const fail = useCallback((error: CombinedError | undefined) => {
    setAfter(undefined);
    if (error && !mayPass(error)) setRefusal(error);
    else setAttempt(before => before + 1);
  }, []);
  useEffect(() => {
    let isCurrent = true;
    const start = async (): Promise<void> => {
      const { data, error } = await graphql
        .query(InboxStartDocument, {}, { requestPolicy: 'network-only' })
        .toPromise();
      if (!isCurrent) return;
      if (data?.eventCursor == null) return fail(error);
      setAfter(data.eventCursor);
      window.dispatchEvent(new Event(STREAM_STARTED));
    };
    const timer = setTimeout(() => void start(), attempt === 0 ? 0 : backoffMs(failures.current++));
    return () => {
      isCurrent = false;
      clearTimeout(timer);
    };
  }, [graphql, attempt, fail]);
  const [{ error }] = useSubscription(
    {
      query: InboxEventsDocument,
      variables: { after, filter: { types: [...TYPES] } },
      pause: after === undefined,
    },
    (_previous, data) => {
      failures.current = 0;
      reportReaction(data);
      const { events } = data;
      const isStatusOnly = STATUS_TYPES.has(events.type);
      if (events.__typename === 'MessageEvent') {
        const row = events.message?.conversation;
        if (row && !isStatusOnly)
          window.dispatchEvent(new CustomEvent<string>(MESSAGE_ADDED, { detail: row.databaseId }));
        if (row) onChange(row.id, row, isStatusOnly);
      } else if (events.__typename === 'ConversationEvent') {
        const { subjectId, formerId, conversation } = events;
        const replaced = formerId ? [formerId, subjectId] : events.type === 'CONVERSATION_DELETED' ? [subjectId] : [];
        for (const detail of replaced) window.dispatchEvent(new CustomEvent<string>(CONVERSATION_REPLACED, { detail }));
        if (formerId) onChange(formerId, null, isStatusOnly);
        onChange(subjectId, conversation, isStatusOnly);
      }
      return data;
    },
  );
  useEffect(() => {
    if (error) fail(error);
  }, [error, fail]);
  // Of another version of the gateway the page speaks as a whole.
  if (refusal && codeOf(refusal) === OTHER_VERSION) return null;
  if (refusal)
    return (
      <p className="connection-lost" role="alert">
        {failureTexts(refusal).join(' ')}
      </p>
    );
  if (isConnected) return null;
  return (
    <p className="connection-lost" role="status">
      {t('live.lost')}
    </p>
  );
}
