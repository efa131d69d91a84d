import { use, useEffect, useState } from 'react';
import { useClient, useSubscription } from 'urql';
import {
  type ConversationRowFragment,
  type EventType,
  InboxEventsDocument,
  InboxStartDocument,
} from '../documents.generated.ts';
import { ConnectionContext } from '../session/connection.ts';
import { useTexts } from '../texts/texts.tsx';
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

interface Props {
  /** A conversation changed; `isStatusOnly` if a list that has it already shows the change. */
  readonly onChange: (id: string, row: ConversationRowFragment | null, isStatusOnly: boolean) => void;
}

/** Follows the events of the inbox: the cache takes their objects. A component of its own, so that an event renders nothing else. */
export function InboxStream({ onChange }: Props) {
  const { t } = useTexts();
  const isConnected = use(ConnectionContext);
  const graphql = useClient();
  const [after, setAfter] = useState<string>();
  useEffect(() => {
    let isCurrent = true;
    void graphql
      .query(InboxStartDocument, {}, { requestPolicy: 'network-only' })
      .toPromise()
      .then(({ data }) => {
        if (isCurrent && data?.eventCursor) setAfter(data.eventCursor);
      });
    return () => {
      isCurrent = false;
    };
  }, [graphql]);
  useSubscription(
    {
      query: InboxEventsDocument,
      variables: { after, filter: { types: [...TYPES] } },
      pause: after === undefined,
    },
    (_previous, data) => {
      reportReaction(data);
      const { events } = data;
      const isStatusOnly = STATUS_TYPES.has(events.type);
      if (events.__typename === 'MessageEvent') {
        const row = events.message?.conversation;
        if (row) onChange(row.id, row, isStatusOnly);
      } else if (events.__typename === 'ConversationEvent')
        onChange(events.subjectId, events.conversation, isStatusOnly);
      return data;
    },
  );
  if (isConnected) return null;
  return (
    <p className="connection-lost" role="status">
      {t('live.lost')}
    </p>
  );
}
