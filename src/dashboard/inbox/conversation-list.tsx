import { type RefObject, useEffect, useRef } from 'react';
import { Link, useSearch } from 'wouter';
import type { ConversationRowFragment } from '../documents.generated.ts';
import { useDates } from '../texts/dates.ts';
import { useTexts } from '../texts/texts.tsx';
import { Avatar } from '../ui/avatar.tsx';
import { Icon } from '../ui/icon.tsx';
import { useNow } from '../ui/now.ts';
import { StatusTick } from './status-tick.tsx';

interface Props {
  readonly conversations: readonly ConversationRowFragment[];
  readonly selectedId: string | undefined;
  readonly hasMore: boolean;
  readonly onMore: () => void;
  readonly scroller: RefObject<HTMLDivElement | null>;
}

export function ConversationList({ conversations, selectedId, hasMore, onMore, scroller }: Props) {
  const { t } = useTexts();
  const now = useNow();
  const end = useRef<HTMLDivElement>(null);
  // The next page is read when the end of the list comes into view.
  useEffect(() => {
    const element = end.current;
    if (!element || !hasMore) return;
    const observer = new IntersectionObserver(entries => {
      if (entries.some(({ isIntersecting }) => isIntersecting)) onMore();
    });
    observer.observe(element);
    return () => observer.disconnect();
  }, [hasMore, onMore]);
  return (
    <div className="conversation-list" ref={scroller}>
      <ul aria-label={t('inbox.list')}>
        {conversations.map(conversation => (
          <Row
            key={conversation.id}
            conversation={conversation}
            isSelected={conversation.databaseId === selectedId}
            now={now}
          />
        ))}
      </ul>
      <div ref={end} className="list-end" />
    </div>
  );
}

interface RowProps {
  readonly conversation: ConversationRowFragment;
  readonly isSelected: boolean;
  readonly now: number;
}

function Row({ conversation, isSelected, now }: RowProps) {
  const { t } = useTexts();
  const dates = useDates();
  const query = useSearch();
  const { databaseId, contact, lastMessage, unreadCount, lastActivityAt, assignee, tags, serviceWindow, status } =
    conversation;
  const name = contact?.displayName ?? t('inbox.unknown');
  const leftMs = serviceWindow.expiresAt ? Date.parse(serviceWindow.expiresAt) - now : 0;
  return (
    <li>
      <Link
        href={`/inbox/${databaseId}${query ? `?${query}` : ''}`}
        className={unreadCount > 0 ? 'conversation unread' : 'conversation'}
        aria-current={isSelected ? 'true' : undefined}
      >
        <Avatar name={name} />
        <span className="conversation-name">{name}</span>
        <span className="conversation-time">{lastActivityAt && dates.brief(lastActivityAt, now)}</span>
        <span className="conversation-text">
          {lastMessage?.direction === 'OUTBOUND' && <StatusTick status={lastMessage.status} />}
          <span className="ellipsis" dir="auto">
            {lastMessage?.previewText}
          </span>
        </span>
        {unreadCount > 0 && (
          <span className="badge">
            {unreadCount}
            <span className="visually-hidden"> {t('inbox.unreadMessages', { count: unreadCount })}</span>
          </span>
        )}
        <span className="conversation-meta">
          {status !== 'OPEN' && <span className={`chip status-${status.toLowerCase()}`}>{t(`status.${status}`)}</span>}
          <span className={leftMs > 0 ? 'window open' : 'window'} title={t('window.label')}>
            <Icon name="clock" size={13} />
            {leftMs > 0 ? dates.span(leftMs) : t('window.closed')}
          </span>
          {tags.slice(0, 2).map(tag => (
            <span key={tag.id} className="tag">
              <i className="dot" style={{ background: tag.color }} />
              {tag.name}
            </span>
          ))}
          {assignee && <span className="assignee">{assignee.name}</span>}
        </span>
      </Link>
    </li>
  );
}
