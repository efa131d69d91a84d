import { memo, useCallback, useEffect, useLayoutEffect, useRef, useState } from 'react';
import { type CombinedError, useClient } from 'urql';
import { useSearchParams } from 'wouter';
import { THREAD_PAGE } from '../api/thread-updates.ts';
import {
  type ConversationRowFragment,
  ThreadDocument,
  type ThreadMessageFragment,
  type ThreadQuery,
} from '../documents.generated.ts';
import { useDates } from '../texts/dates.ts';
import { useTexts } from '../texts/texts.tsx';
import { useNow } from '../ui/now.ts';
import { UserErrors } from '../ui/user-errors.tsx';
import { useIsMine } from './draft.ts';
import { MessageBubble } from './message-bubble.tsx';

interface Props {
  readonly conversation: ConversationRowFragment;
  readonly messages: NonNullable<ThreadQuery['conversation']>['messages'];
}

/** Closer to the end than this, the list follows new messages. */
const FOLLOW_PX = 120;

/** A scroll area is reached with the keyboard, also where nothing in it can be pressed. */
const SCROLLABLE = { tabIndex: 0 };

/**
 * The messages, oldest first, from the last one backwards. Rendered only when they change, each bubble by itself: with 2,400 of them a
 * key in the composer took half a second.
 */
export const MessageList = memo(function MessageList({ conversation, messages }: Props) {
  const { t } = useTexts();
  const dates = useDates();
  const now = useNow();
  const graphql = useClient();
  const list = useRef<HTMLDivElement>(null);
  const isAtEnd = useRef(true);
  const heightBefore = useRef<number>(undefined);
  const [isLoading, setLoading] = useState(false);
  const [failure, setFailure] = useState<CombinedError>();
  const edges = messages?.edges ?? [];
  const { hasPreviousPage = false, startCursor } = messages?.pageInfo ?? {};

  const last = edges.at(-1)?.node;
  const lastId = useRef(last?.id);
  const isMine = useIsMine();

  useLayoutEffect(() => {
    const element = list.current;
    if (!element) return;
    // A message of the reader's own scrolls into view.
    if (last && last.id !== lastId.current && isMine(last)) isAtEnd.current = true;
    lastId.current = last?.id;
    const before = heightBefore.current;
    if (isAtEnd.current) element.scrollTop = element.scrollHeight;
    // Keeps the scroll position when older messages are added above.
    else if (before !== undefined && element.scrollHeight > before) element.scrollTop += element.scrollHeight - before;
    if (!isLoading) heightBefore.current = undefined;
  });
  // Pictures have their size later than their message.
  useEffect(() => {
    const element = list.current;
    if (!element) return;
    const stay = (): void => {
      if (isAtEnd.current) element.scrollTop = element.scrollHeight;
    };
    element.addEventListener('load', stay, true);
    const observer = new ResizeObserver(stay);
    observer.observe(element);
    return () => {
      element.removeEventListener('load', stay, true);
      observer.disconnect();
    };
  }, []);

  const older = useCallback(() => {
    if (!startCursor || isLoading) return;
    setLoading(true);
    heightBefore.current = list.current?.scrollHeight;
    void graphql
      .query(ThreadDocument, { id: conversation.databaseId, last: THREAD_PAGE, before: startCursor })
      .toPromise()
      .then(({ error }) => {
        setFailure(error);
        setLoading(false);
      });
  }, [graphql, conversation.databaseId, startCursor, isLoading]);

  // A message that a search has found: what lies between is read page by page.
  const [params] = useSearchParams();
  const soughtId = params.get('message') ?? undefined;
  const shownId = useRef<string>(undefined);
  const isSoughtLoaded = edges.some(({ node }) => node.id === soughtId);
  useEffect(() => {
    if (soughtId === undefined) return;
    if (!isSoughtLoaded) {
      shownId.current = undefined;
      if (hasPreviousPage && !failure) older();
      return;
    }
    if (soughtId === shownId.current) return;
    shownId.current = soughtId;
    isAtEnd.current = false;
    list.current?.querySelector('.message-row.sought')?.scrollIntoView({ block: 'center' });
  }, [soughtId, isSoughtLoaded, hasPreviousPage, failure, older]);

  const isOpen = Date.parse(conversation.serviceWindow.expiresAt ?? '') > now;
  const rows = edges.map(({ node }, index) => {
    const before = edges[index - 1]?.node;
    const isNewDay = !before || new Date(before.createdAt).toDateString() !== new Date(node.createdAt).toDateString();
    return (
      <div key={node.id} className={node.id === soughtId ? 'message-row sought' : 'message-row'}>
        {isNewDay && <p className="day">{dates.day(node.createdAt, now)}</p>}
        <MessageBubble message={node} follows={!isNewDay && isSameAuthor(before, node)} isOpen={isOpen} />
      </div>
    );
  });
  return (
    <div
      ref={list}
      className="message-list"
      role="log"
      aria-label={t('thread.messages')}
      {...SCROLLABLE}
      onScroll={event => {
        const { scrollHeight, scrollTop, clientHeight } = event.currentTarget;
        isAtEnd.current = scrollHeight - scrollTop - clientHeight < FOLLOW_PX;
      }}
    >
      <UserErrors failure={failure} />
      {hasPreviousPage && (
        <button type="button" className="button small older" disabled={isLoading} onClick={older}>
          {t('thread.older')}
        </button>
      )}
      {rows}
    </div>
  );
});

/** Whether two messages stand together as one turn. */
const isSameAuthor = (a: ThreadMessageFragment, b: ThreadMessageFragment): boolean =>
  a.direction === b.direction && a.sentBy?.kind === b.sentBy?.kind && a.sentBy?.displayName === b.sentBy?.displayName;
