import type { ThreadMessageFragment } from '../documents.generated.ts';
import { useDates } from '../texts/dates.ts';
import { useTexts } from '../texts/texts.tsx';
import { Icon } from '../ui/icon.tsx';
import { adviceOf } from './failure.ts';
import { MessageContent } from './message-content.tsx';
import { StatusTick } from './status-tick.tsx';

interface Props {
  readonly message: ThreadMessageFragment;
  /** Whether the message before is from the same side: they stand closer. */
  readonly follows: boolean;
}

export function MessageBubble({ message, follows }: Props) {
  const { t } = useTexts();
  const dates = useDates();
  const { direction, content, createdAt, status, replyTo, error, sentBy, reactions, editedAt, revokedAt } = message;
  const isOurs = direction === 'OUTBOUND';
  const side = content.__typename === 'SystemContent' ? 'system' : isOurs ? 'ours' : 'theirs';
  return (
    <article className={follows ? `bubble ${side} follows` : `bubble ${side}`}>
      <span className="visually-hidden">{isOurs ? t('message.ours') : t('message.theirs')}</span>
      {replyTo && (
        <blockquote className="quote">
          <span className="small">{replyTo.direction === 'OUTBOUND' ? t('message.you') : t('message.them')}</span>
          <span className="ellipsis">{replyTo.previewText}</span>
        </blockquote>
      )}
      {isOurs && sentBy && (
        <p className="author small">
          {sentBy.displayName} <span>{t(`author.${sentBy.kind}`)}</span>
        </p>
      )}
      {revokedAt ? <p className="muted">{t('message.revoked')}</p> : <MessageContent message={message} />}
      <footer className="bubble-foot" title={dates.full(createdAt)}>
        {editedAt && <span>{t('message.edited')}</span>}
        <time dateTime={createdAt}>{dates.time(createdAt)}</time>
        {isOurs && <StatusTick status={status} />}
      </footer>
      {reactions.length > 0 && <p className="reactions">{reactions.map(({ emoji }) => emoji).join(' ')}</p>}
      {error && (
        <div className="failure" role="note">
          <Icon name="alert" size={16} />
          <div>
            <strong>{error.title}</strong>
            <p>{t(adviceOf(error))}</p>
            <p className="small muted">
              {t('failure.code', { code: String(error.code) })}
              {error.details && error.details !== error.title ? ` · ${error.details}` : ''}
            </p>
          </div>
        </div>
      )}
    </article>
  );
}
