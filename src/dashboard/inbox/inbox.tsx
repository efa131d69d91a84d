import { useCallback, useRef, useState } from 'react';
import { useLocation, useSearch } from 'wouter';
import { TIME_PASSED } from '../phone/clock-button.tsx';
import { useTexts } from '../texts/texts.tsx';
import { UserErrors } from '../ui/user-errors.tsx';
import { ConversationList, withoutMessage } from './conversation-list.tsx';
import { useInboxFilters } from './filters.ts';
import { FoundMessages, useFoundMessages } from './found-messages.tsx';
import { InboxEmpty } from './inbox-empty.tsx';
import { InboxStream, STREAM_STARTED } from './inbox-stream.tsx';
import { Shortcuts, useInboxKeys } from './keys.tsx';
import { ListHead } from './list-head.tsx';
import { Thread } from './thread.tsx';
import { useConversations } from './use-conversations.ts';
import { useWindowEvent } from './window-event.ts';

/** Conversations beside the thread of one of them. */
export function Inbox({ conversationKey }: { readonly conversationKey: string | undefined }) {
  const { t } = useTexts();
  const [filters, changeFilters] = useInboxFilters();
  const list = useConversations(filters);
  const conversations = list.rows;
  const found = useFoundMessages(filters.search);
  useWindowEvent(TIME_PASSED, list.reload);
  useWindowEvent(STREAM_STARTED, list.reload);
  const [, navigate] = useLocation();
  const query = useSearch();
  const scroller = useRef<HTMLDivElement>(null);
  const step = useCallback(
    (by: 1 | -1) => {
      const index = conversations.findIndex(({ databaseId }) => databaseId === conversationKey);
      const next = conversations[index < 0 ? 0 : index + by];
      if (!next) return;
      navigate(`/inbox/${next.databaseId}${withoutMessage(query)}`);
      requestAnimationFrame(() =>
        scroller.current?.querySelector('[aria-current=true]')?.scrollIntoView({ block: 'nearest' }),
      );
    },
    [conversations, conversationKey, navigate, query],
  );
  const [isHelpOpen, setHelpOpen] = useState(false);
  useInboxKeys({ step, help: () => setHelpOpen(true) });

  return (
    <main className={conversationKey === undefined ? 'inbox' : 'inbox has-thread'}>
      <h1 className="visually-hidden">{t('nav.inbox')}</h1>
      <InboxStream onChange={list.take} />
      <section className="inbox-side" aria-label={t('nav.inbox')}>
        <ListHead filters={filters} onChange={changeFilters} />
        {list.error && !list.isLoaded ? (
          <UserErrors failure={list.error} />
        ) : conversations.length === 0 && found.messages.length === 0 && !list.isBusy && !found.isBusy ? (
          <InboxEmpty filters={filters} onReset={() => navigate('/inbox')} />
        ) : (
          <ConversationList
            conversations={conversations}
            selectedId={conversationKey}
            hasMore={list.hasMore}
            onMore={list.more}
            scroller={scroller}
          >
            <FoundMessages messages={found.messages} search={filters.search} />
          </ConversationList>
        )}
      </section>
      {conversationKey === undefined ? (
        <section className="thread-empty">
          <p className="muted">{t('inbox.choose')}</p>
          <button type="button" className="button quiet" onClick={() => setHelpOpen(true)}>
            {t('keys.title')} <kbd>?</kbd>
          </button>
        </section>
      ) : (
        <Thread key={conversationKey} conversationKey={conversationKey} />
      )}
      {isHelpOpen && <Shortcuts onClose={() => setHelpOpen(false)} />}
    </main>
  );
}
