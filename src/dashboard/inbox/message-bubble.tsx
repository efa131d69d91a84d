import { memo } from 'react';
import type { ThreadMessageFragment } from '../documents.generated.ts';
import { useDates } from '../texts/dates.ts';
import { useTexts } from '../texts/texts.tsx';
import { FailureNote, ReactionFailure } from './failure-note.tsx';
import { MessageActions } from './message-actions.tsx';
import { MessageContent } from './message-content.tsx';
import { Scheduled } from './scheduled.tsx';
import { StatusTick } from './status-tick.tsx';
import { useReaction } from './use-reaction.ts';

interface Props {
  readonly message: ThreadMessageFragment;
  /** Whether the message before is of the same turn: they stand closer. */
  readonly follows: boolean;
  /** Whether the person can be answered freely. */
  readonly isOpen: boolean;
}

export const MessageBubble = memo(function MessageBubble({ message, follows, isOpen }: Props) {
  const { t } = useTexts();
  const dates = useDates();
  const reaction = useReaction(message.id);
  const { direction, content, previewText, createdAt, status, replyTo, sentBy, reactions, editedAt, revokedAt } =
    message;
  const isOurs = direction === 'OUTBOUND';
  const side = content.__typename === 'SystemContent' ? 'system' : isOurs ? 'ours' : 'theirs';
  // A scheduled message was accepted long before it was sent.
  const time = (message.scheduledAt && message.sentAt) || createdAt;
  const classes = ['bubble', side, follows && 'follows', reactions.length > 0 && 'reacted', status.toLowerCase()];
  return (
    <article className={classes.filter(Boolean).join(' ')}>
      <span className="visually-hidden">{isOurs ? t('message.ours') : t('message.theirs')}</span>
      {isOurs && sentBy && (
        <p className="author small">
          {sentBy.displayName} <span>{t(`author.${sentBy.kind}`)}</span>
        </p>
      )}
      {replyTo && (
        <blockquote className="quote">
          <span className="small">{replyTo.direction === 'OUTBOUND' ? t('message.you') : t('message.them')}</span>
          <span className="ellipsis" dir="auto">
            {replyTo.previewText}
          </span>
        </blockquote>
      )}
      {revokedAt ? (
        <p className="muted">{t('message.revoked')}</p>
      ) : (
        <MessageContent content={content} previewText={previewText} />
      )}
      {status !== 'SCHEDULED' && (
        <footer className="bubble-foot" title={dates.full(time)}>
          {editedAt && <span>{t('message.edited')}</span>}
          {status === 'CANCELLED' && <span>{t('message.CANCELLED')}</span>}
          <time dateTime={time}>{dates.time(time)}</time>
          {isOurs && <StatusTick status={status} />}
        </footer>
      )}
      {status === 'SCHEDULED' && <Scheduled message={message} />}
      {reactions.length > 0 && (
        <p className="reactions">
          <span className="visually-hidden">{t('message.reactions')}</span>
          {reactions.map(({ emoji }) => emoji).join(' ')}
        </p>
      )}
      {status === 'FAILED' && <FailureNote message={message} />}
      <ReactionFailure reaction={reaction} />
      {isOpen && <MessageActions message={message} onReact={reaction.react} />}
    </article>
  );
});
