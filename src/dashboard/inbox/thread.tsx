import { useEffect, useMemo, useState } from 'react';
import { useMutation } from 'urql';
import { MarkConversationReadDocument, type ThreadQuery } from '../documents.generated.ts';
import { ClockButton } from '../phone/clock-button.tsx';
import { PhoneDevice } from '../phone/phone-device.tsx';
import { useColleagues } from '../presence/use-colleagues.ts';
import { useAccount } from '../session/account.tsx';
import { useTexts } from '../texts/texts.tsx';
import { UserErrors } from '../ui/user-errors.tsx';
import { Composer } from './composer.tsx';
import { Details } from './details.tsx';
import { DraftContext, useDraftOf } from './draft.ts';
import { MessageList } from './message-list.tsx';
import { ThreadHead } from './thread-head.tsx';
import { SentReactionsContext, useSentReactions } from './use-reaction.ts';
import { useThread } from './use-thread.ts';

/** One conversation: who it is with, its messages, and what to answer with. */
export function Thread({ conversationKey }: { readonly conversationKey: string }) {
  const { t } = useTexts();
  const { can } = useAccount();
  const { conversation, isBusy, error } = useThread(conversationKey);
  const [, markRead] = useMutation(MarkConversationReadDocument);
  const unread = conversation?.unreadCount ?? 0;
  const mayMark = can('CONVERSATIONS_WRITE', 'MESSAGES_SEND');

  // Read once it is on the screen: not in a tab in the background.
  useEffect(() => {
    if (unread === 0 || !mayMark) return;
    const mark = (): void => {
      if (document.visibilityState === 'visible') void markRead({ input: { id: conversationKey } });
    };
    mark();
    document.addEventListener('visibilitychange', mark);
    return () => document.removeEventListener('visibilitychange', mark);
  }, [unread, mayMark, conversationKey, markRead]);

  if (!conversation)
    return (
      <section className="thread-empty" aria-busy={isBusy}>
        {!isBusy && (error ? <UserErrors failure={error} /> : <p className="muted">{t('thread.missing')}</p>)}
      </section>
    );
  return <OpenThread conversation={conversation} />;
}

type OpenConversation = NonNullable<ThreadQuery['conversation']>;

function OpenThread({ conversation }: { readonly conversation: OpenConversation }) {
  const { t } = useTexts();
  const { can, hasEmulator } = useAccount();
  const [side, setSide] = useState<'details' | 'phone'>();
  const [area, setArea] = useState<HTMLElement | null>(null);
  const sentReactions = useSentReactions(conversation.databaseId);
  const toggle = (which: 'details' | 'phone'): void => setSide(side === which ? undefined : which);
  const colleagues = useColleagues(conversation.id);
  const edges = conversation.messages?.edges;
  const messages = useMemo(() => (edges ?? []).map(({ node }) => node), [edges]);
  const draft = useDraftOf(conversation.id, messages);
  return (
    <DraftContext value={draft}>
      <section ref={setArea} className="thread" aria-label={conversation.contact?.displayName ?? t('inbox.unknown')}>
        <ThreadHead
          conversation={conversation}
          messages={messages}
          colleagues={colleagues}
          side={side}
          onDetails={() => toggle('details')}
          onPhone={hasEmulator && conversation.contact?.phone ? () => toggle('phone') : undefined}
        />
        <SentReactionsContext value={sentReactions}>
          <MessageList conversation={conversation} messages={conversation.messages} />
        </SentReactionsContext>
        {can('MESSAGES_SEND') && (
          <Composer
            conversation={conversation}
            colleagues={colleagues}
            dropArea={area}
            onNoted={() => setSide('details')}
          />
        )}
      </section>
      {side === 'phone' && conversation.contact?.phone ? (
        <aside className="phone-dock" aria-label={t('nav.phone')}>
          <ClockButton />
          <PhoneDevice
            phone={conversation.contact.phone}
            businessNumber={conversation.channel?.displayPhoneNumber}
            name={conversation.contact.displayName}
            onClose={() => setSide(undefined)}
          />
        </aside>
      ) : (
        <Details conversation={conversation} isOpen={side === 'details'} onClose={() => setSide(undefined)} />
      )}
    </DraftContext>
  );
}
