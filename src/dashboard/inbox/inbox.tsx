import { useCallback, useEffect, useMemo, useRef, useState } from 'react';
import { useClient, useQuery } from 'urql';
import { useLocation, useSearch } from 'wouter';
import { ConversationsDocument } from '../documents.generated.ts';
import { TIME_PASSED } from '../phone/clock-button.tsx';
import { useTexts } from '../texts/texts.tsx';
import { ConversationList, withoutMessage } from './conversation-list.tsx';
import { filterOf, useInboxFilters } from './filters.ts';
import { FoundMessages, useFoundMessages } from './found-messages.tsx';
import { InboxEmpty } from './inbox-empty.tsx';
import { InboxStream } from './inbox-stream.tsx';
import { Shortcuts, useInboxKeys } from './keys.tsx';
import { ListHead } from './list-head.tsx';
import { Thread } from './thread.tsx';
import { useWindowEvent } from './window-event.ts';

const PAGE = 30;
/** Changes that come together are one look at the list. */
const REFETCH_AFTER_MS = 400;

/** Conversations beside the thread of one of them. */
export function Inbox({ conversationId }: { readonly conversationId: string | undefined }) {
  const { t } = useTexts();
  const [filters, changeFilters] = useInboxFilters();
  const variables = useMemo(
    () => ({ filter: filterOf(filters), search: filters.search || undefined, first: PAGE }),
    [filters],
  );
  const [{ data, fetching, error }, refetch] = useQuery({
    query: ConversationsDocument,
    variables,
    requestPolicy: 'cache-and-network',
  });
  const conversations = useMemo(
    () =>
      [...(data?.conversations?.nodes ?? [])].sort((a, b) =>
        (b.lastActivityAt ?? '').localeCompare(a.lastActivityAt ?? ''),
      ),
    [data],
  );
  const found = useFoundMessages(filters.search);
  const known = useRef(new Set<string>());
  known.current = new Set(conversations.map(({ id }) => id));
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  const onChange = useCallback(
    (conversation: string, isStatusOnly: boolean) => {
      if (isStatusOnly && known.current.has(conversation)) return;
      timer.current ??= setTimeout(() => {
        timer.current = undefined;
        refetch({ requestPolicy: 'network-only' });
      }, REFETCH_AFTER_MS);
    },
    [refetch],
  );
  useEffect(() => () => clearTimeout(timer.current), []);
  useWindowEvent(TIME_PASSED, () => refetch({ requestPolicy: 'network-only' }));

  const graphql = useClient();
  const pageInfo = data?.conversations?.pageInfo;
  const more = useCallback(() => {
    if (pageInfo?.hasNextPage)
      void graphql.query(ConversationsDocument, { ...variables, after: pageInfo.endCursor }).toPromise();
  }, [graphql, variables, pageInfo]);

  const [, navigate] = useLocation();
  const query = useSearch();
  const scroller = useRef<HTMLDivElement>(null);
  const step = useCallback(
    (by: 1 | -1) => {
      const index = conversations.findIndex(({ databaseId }) => databaseId === conversationId);
      const next = conversations[index < 0 ? 0 : index + by];
      if (!next) return;
      navigate(`/inbox/${next.databaseId}${withoutMessage(query)}`);
      requestAnimationFrame(() =>
        scroller.current?.querySelector('[aria-current=true]')?.scrollIntoView({ block: 'nearest' }),
      );
    },
    [conversations, conversationId, navigate, query],
  );
  const [isHelpOpen, setHelpOpen] = useState(false);
  useInboxKeys({ step, help: () => setHelpOpen(true) });

  return (
    <main className={conversationId === undefined ? 'inbox' : 'inbox has-thread'}>
      <h1 className="visually-hidden">{t('nav.inbox')}</h1>
      <InboxStream onChange={onChange} />
      <section className="inbox-side" aria-label={t('nav.inbox')}>
        <ListHead filters={filters} onChange={changeFilters} />
        {error && !data ? (
          <p className="notice danger">{error.message}</p>
        ) : conversations.length === 0 && found.messages.length === 0 && !fetching && !found.isBusy ? (
          <InboxEmpty filters={filters} onReset={() => navigate('/inbox')} />
        ) : (
          <ConversationList
            conversations={conversations}
            selectedId={conversationId}
            hasMore={pageInfo?.hasNextPage ?? false}
            onMore={more}
            scroller={scroller}
          >
            <FoundMessages messages={found.messages} search={filters.search} />
          </ConversationList>
        )}
      </section>
      {conversationId === undefined ? (
        <section className="thread-empty">
          <p className="muted">{t('inbox.choose')}</p>
          <button type="button" className="button quiet" onClick={() => setHelpOpen(true)}>
            {t('keys.title')} <kbd>?</kbd>
          </button>
        </section>
      ) : (
        <Thread key={conversationId} conversationId={conversationId} />
      )}
      {isHelpOpen && <Shortcuts onClose={() => setHelpOpen(false)} />}
    </main>
  );
}
