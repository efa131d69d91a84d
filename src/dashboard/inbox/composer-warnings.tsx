import type { ConversationRowFragment } from '../documents.generated.ts';
import type { Colleague } from '../presence/use-colleagues.ts';
import { useAccount } from '../session/account.tsx';
import { useTexts } from '../texts/texts.tsx';
import { Icon } from '../ui/icon.tsx';
import { useDraft } from './draft.ts';

interface Props {
  readonly conversation: ConversationRowFragment;
  readonly colleagues: readonly Colleague[];
}

/** Warns of colleagues: one who types, else the assignee. */
export function ComposerHint({ conversation: { assignee }, colleagues }: Props) {
  const { t } = useTexts();
  const { viewer } = useAccount();
  const typing = colleagues.find(({ isTyping }) => isTyping);
  const isOthers = assignee && viewer.staffMember && assignee.id !== viewer.staffMember.id;
  const text = typing
    ? t('composer.colleagueTypes', { name: typing.name })
    : isOthers
      ? t('composer.assigned', { name: assignee.name })
      : undefined;
  return (
    <span className="composer-hint" role="status">
      {text}
    </span>
  );
}

interface ClosableProps {
  /** Called when it is closed by its button, which had the focus. */
  readonly onClose: () => void;
}

/** Warns of answers that colleagues have sent since the draft was begun. */
export function MissedAnswer({ onClose }: ClosableProps) {
  const { t } = useTexts();
  const { missed, know } = useDraft();
  const last = missed.at(-1);
  if (!last) return null;
  return (
    <div className="notice missed" role="alert">
      <Icon name="alert" size={18} />
      <p>
        <strong>{t('composer.missed', { name: last.sentBy?.displayName ?? t('held.somebody') })}</strong>{' '}
        <span dir="auto">{last.previewText}</span>
      </p>
      <button
        type="button"
        className="button small"
        onClick={() => {
          know(last.id);
          onClose();
        }}
      >
        {t('composer.missedSeen')}
      </button>
    </div>
  );
}

/** The message that is quoted. */
export function QuotedMessage({ onClose }: ClosableProps) {
  const { t } = useTexts();
  const { replyTo, quote } = useDraft();
  if (!replyTo) return null;
  return (
    <div className="composer-quote">
      <blockquote className="quote">
        <span className="small">{replyTo.isOurs ? t('message.you') : t('message.them')}</span>
        <span className="ellipsis" dir="auto">
          {replyTo.text}
        </span>
      </blockquote>
      <button
        type="button"
        className="icon-button small"
        aria-label={t('composer.noQuote')}
        onClick={() => {
          quote(undefined);
          onClose();
        }}
      >
        <Icon name="close" size={16} />
      </button>
    </div>
  );
}

/** Why files that were dropped or pasted were not attached. */
export function RefusedFiles({ reason }: { readonly reason: 'note' | 'window' | undefined }) {
  const { t } = useTexts();
  if (reason === undefined) return null;
  return (
    <p className="notice" role="alert">
      {t(reason === 'note' ? 'composer.noFilesInNote' : 'composer.noFilesOutside')}
    </p>
  );
}
