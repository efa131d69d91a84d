import { useQuery } from 'urql';
import { Link, useSearchParams } from 'wouter';
import { FoundMessagesDocument, type FoundMessagesQuery } from '../documents.generated.ts';
import { useDates } from '../texts/dates.ts';
import { useTexts } from '../texts/texts.tsx';
import { useNow } from '../ui/now.ts';

/** Shorter texts are in too many messages. */
const MIN_LENGTH = 3;
/** Characters of a text that are shown before the match. */
const BEFORE = 24;

export type FoundMessage = NonNullable<FoundMessagesQuery['messages']>['nodes'][number];

interface Found {
  readonly messages: readonly FoundMessage[];
  readonly isBusy: boolean;
}

/** The newest messages whose text contains what is searched. */
export function useFoundMessages(search: string): Found {
  const text = search.trim();
  const isPaused = text.length < MIN_LENGTH;
  const [{ data, fetching }] = useQuery({
    query: FoundMessagesDocument,
    variables: { search: text },
    pause: isPaused,
    requestPolicy: 'cache-and-network',
  });
  const nodes = isPaused ? [] : (data?.messages?.nodes ?? []);
  return { messages: nodes.filter(({ conversation }) => conversation !== null), isBusy: fetching && !isPaused };
}

interface Props {
  readonly messages: readonly FoundMessage[];
  readonly search: string;
}

/** Messages below the conversations that a search has found; each leads to its place in the thread. */
export function FoundMessages({ messages, search }: Props) {
  const { t } = useTexts();
  const dates = useDates();
  const now = useNow();
  const [params] = useSearchParams();
  if (messages.length === 0) return null;
  const hrefOf = ({ id, conversation }: FoundMessage): string => {
    const next = new URLSearchParams(params);
    next.set('message', id);
    return `/inbox/${conversation?.databaseId}?${next}`;
  };
  return (
    <section aria-label={t('inbox.foundMessages')}>
      <h2 className="found-head">{t('inbox.foundMessages')}</h2>
      <ul>
        {messages.map(message => (
          <li key={message.id}>
            <Link
              href={hrefOf(message)}
              className="conversation found"
              aria-current={params.get('message') === message.id ? 'true' : undefined}
            >
              <span className="conversation-name">
                {message.conversation?.contact?.displayName ?? t('inbox.unknown')}
              </span>
              <span className="conversation-time">{dates.brief(message.createdAt, now)}</span>
              <span className="conversation-text">
                <span className="ellipsis" dir="auto">
                  {message.direction === 'OUTBOUND' && `${t('message.you')}: `}
                  {excerptOf(message.text ?? message.previewText, search)}
                </span>
              </span>
            </Link>
          </li>
        ))}
      </ul>
    </section>
  );
}

/** The text from a little before its first match, in one line. */
export function excerptOf(text: string, search: string): string {
  const line = text.replace(/\s+/g, ' ');
  const [word = ''] = search.trim().toLowerCase().split(/\s+/);
  const at = line.toLowerCase().indexOf(word);
  return at > BEFORE ? `…${line.slice(at - BEFORE)}` : line;
}
