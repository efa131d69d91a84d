import { memo, type ReactNode, type RefObject, useEffect, useRef } from 'react';
import { useQuery } from 'urql';
import { Link, useSearch } from 'wouter';
import { type ConversationRowFragment, InboxChannelsDocument } from '../documents.generated.ts';
import { useAccount } from '../session/account.tsx';
import { useDates } from '../texts/dates.ts';
import { useTexts } from '../texts/texts.tsx';
import { Avatar } from '../ui/avatar.tsx';
import { Icon } from '../ui/icon.tsx';
import { useNow } from '../ui/now.ts';
import { isAnswer, useConversationDraft } from './draft-store.tsx';
import { StatusTick } from './status-tick.tsx';

interface Props {
  readonly conversations: readonly ConversationRowFragment[];
  readonly selectedId: string | undefined;
  readonly hasMore: boolean;
  readonly onMore: () => void;
  readonly scroller: RefObject<HTMLDivElement | null>;
  /** Stands below the conversations. */
  readonly children?: ReactNode;
}

export function ConversationList({ conversations, selectedId, hasMore, onMore, scroller, children }: Props) {
  const { t } = useTexts();
  const { can } = useAccount();
  const now = useNow();
  const [{ data: connected }] = useQuery({ query: InboxChannelsDocument, pause: !can('CHANNELS_READ') });
  const hasSeveralChannels = (connected?.channels?.nodes.length ?? 0) > 1;
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
            isChannelShown={hasSeveralChannels}
          />
        ))}
      </ul>
      <div ref={end} className="list-end" />
      {!hasMore && children}
    </div>
  );
}

/** The filters of the list, without the message that is shown of another conversation. */
export function withoutMessage(query: string): string {
  const params = new URLSearchParams(query);
  params.delete('message');
  return params.size === 0 ? '' : `?${params}`;
}

interface RowProps {
  readonly conversation: ConversationRowFragment;
  readonly isSelected: boolean;
  readonly now: number;
  readonly isChannelShown: boolean;
}

/** Rendered only when it changes: with 3,000 of them each event of a busy account rendered them all. */
const Row = memo(function Row({ conversation, isSelected, now, isChannelShown }: RowProps) {
  const { t } = useTexts();
  const dates = useDates();
  const query = useSearch();
  const {
    databaseId,
    contact,
    lastMessage,
    unreadCount,
    lastActivityAt,
    assignee,
    tags,
    serviceWindow,
    status,
    channel,
  } = conversation;
  const name = contact?.displayName ?? t('inbox.unknown');
  const [draft] = useConversationDraft(conversation.id);
  // Beside the composer it is seen anyway.
  const isDraft = !isSelected && isAnswer(draft);
  const leftMs = serviceWindow.expiresAt ? Date.parse(serviceWindow.expiresAt) - now : 0;
  return (
    <li>
      <Link
        href={`/inbox/${databaseId}${withoutMessage(query)}`}
        className={unreadCount > 0 ? 'conversation unread' : 'conversation'}
        aria-current={isSelected ? 'true' : undefined}
      >
        <Avatar name={name} />
        <span className="conversation-name">{name}</span>
        <span className="conversation-time">{lastActivityAt && dates.brief(lastActivityAt, now)}</span>
        <span className="conversation-text">
          {isDraft && <span className="draft-label">{t('inbox.draft')}</span>}
          {!isDraft && lastMessage?.direction === 'OUTBOUND' && <StatusTick status={lastMessage.status} />}
          <span className="ellipsis" dir="auto">
            {isDraft
              ? draft.text.trim() || draft.attachments.map(({ name }) => name).join(', ')
              : lastMessage?.previewText}
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
          {isChannelShown && channel && (
            <span className="conversation-channel">
              <Icon name="channels" size={13} />
              <span className="ellipsis" dir="auto">
                {channel.name}
              </span>
            </span>
          )}
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
});
