import { memo, useCallback, useEffect, useLayoutEffect, useRef } from 'react';
import { flushSync } from 'react-dom';
import { useSearchParams } from 'wouter';
import type { ConversationRowFragment, ThreadMessageFragment, ThreadQuery } from '../documents.generated.ts';
import { useDates } from '../texts/dates.ts';
import { useTexts } from '../texts/texts.tsx';
import { useNow } from '../ui/now.ts';
import { UserErrors } from '../ui/user-errors.tsx';
import { useIsMine } from './draft.ts';
import { MessageBubble } from './message-bubble.tsx';
import { useThreadPages } from './use-thread-pages.ts';

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
  const list = useRef<HTMLDivElement>(null);
  const isAtEnd = useRef(true);
  const keepPlace = useCallback((change: () => void) => {
    const place = list.current && placeIn(list.current);
    flushSync(change);
    if (place && !isAtEnd.current) place.restore();
  }, []);
  const pages = useThreadPages({ conversationKey: conversation.databaseId, last: messages, isAtEnd, keepPlace });
  const { edges, hasOlder, hasNewer, isLoading, failure, older, newer, toEnd, jumpTo } = pages;

  const last = messages?.edges.at(-1)?.node;
  const lastId = useRef(last?.id);
  const isMine = useIsMine();

  useLayoutEffect(() => {
    const element = list.current;
    if (!element) return;
    // A message of the reader's own scrolls into view.
    if (last && last.id !== lastId.current && isMine(last)) {
      isAtEnd.current = true;
      if (hasNewer) toEnd();
    }
    lastId.current = last?.id;
    if (isAtEnd.current) element.scrollTop = element.scrollHeight;
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

  // A message that a search has found.
  const [params] = useSearchParams();
  const soughtId = params.get('message') ?? undefined;
  const shownId = useRef<string>(undefined);
  const isSoughtLoaded = edges.some(({ node }) => node.id === soughtId);
  const isSoughtLast = messages?.edges.some(({ node }) => node.id === soughtId) ?? false;
  const soughtFrom = useRef<string>(undefined);
  useEffect(() => {
    if (soughtId === shownId.current) return;
    if (soughtId === undefined) {
      shownId.current = undefined;
      soughtFrom.current = undefined;
      return;
    }
    if (!isSoughtLoaded) {
      // Once: it may have been deleted.
      if (soughtFrom.current === soughtId || isLoading || !messages) return;
      soughtFrom.current = soughtId;
      if (isSoughtLast) toEnd();
      else jumpTo(soughtId);
      return;
    }
    shownId.current = soughtId;
    soughtFrom.current = undefined;
    isAtEnd.current = false;
    list.current?.querySelector('.message-row.sought')?.scrollIntoView({ block: 'center' });
  }, [soughtId, isSoughtLoaded, isSoughtLast, isLoading, messages, toEnd, jumpTo]);

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
        isAtEnd.current = !hasNewer && scrollHeight - scrollTop - clientHeight < FOLLOW_PX;
      }}
    >
      <UserErrors failure={failure} />
      {hasOlder && (
        <button type="button" className="button small older" disabled={isLoading} onClick={older}>
          {t('thread.older')}
        </button>
      )}
      {rows}
      {hasNewer && (
        <p className="newer">
          <button type="button" className="button small" disabled={isLoading} onClick={newer}>
            {t('thread.newer')}
          </button>
          <button
            type="button"
            className="button small"
            onClick={() => {
              isAtEnd.current = true;
              toEnd();
            }}
          >
            {t('thread.latest')}
          </button>
        </p>
      )}
    </div>
  );
});

/** Where the first message that is seen stands, to be put there again. Its row begins higher while a date stands above it. */
function placeIn(list: HTMLElement): { restore(): void } | undefined {
  const topOf = (element: Element): number => element.getBoundingClientRect().top;
  const messages = [...list.querySelectorAll('.message-row article')];
  const message = messages.find(each => each.getBoundingClientRect().bottom > topOf(list));
  if (!message) return undefined;
  const top = topOf(message);
  return {
    restore() {
      if (message.isConnected) list.scrollTop += topOf(message) - top;
    },
  };
}

/** Whether two messages stand together as one turn. */
const isSameAuthor = (a: ThreadMessageFragment, b: ThreadMessageFragment): boolean =>
  a.direction === b.direction && a.sentBy?.kind === b.sentBy?.kind && a.sentBy?.displayName === b.sentBy?.displayName;
