import { useMutation } from 'urql';
import { RetryMessageDocument, type ThreadMessageFragment } from '../documents.generated.ts';
import { useAccount } from '../session/account.tsx';
import { useTexts } from '../texts/texts.tsx';
import { Icon } from '../ui/icon.tsx';
import { UserErrors } from '../ui/user-errors.tsx';
import { adviceOf, isRetryable } from './failure.ts';
import type { Reaction } from './use-reaction.ts';

/** Why a reaction failed: it was not accepted here, or the network refused it. */
export function ReactionFailure({ reaction: { errors, failure, refused } }: { readonly reaction: Reaction }) {
  const { t } = useTexts();
  if (!refused?.error) return <UserErrors errors={errors} failure={failure} />;
  const { error, previewText } = refused;
  return (
    <div className="failure" role="alert">
      <Icon name="alert" size={16} />
      <div>
        <strong>
          {previewText === '' ? t('message.reactionKept') : t('message.reactionFailed', { emoji: previewText })}
        </strong>
        <p>
          {error.title.replace(/[.!]$/, '')}. {t(adviceOf(error))}
        </p>
      </div>
    </div>
  );
}

/** Why a message failed, and what to do about it. */
export function FailureNote({ message: { id, error } }: { readonly message: ThreadMessageFragment }) {
  const { t } = useTexts();
  const { can } = useAccount();
  const [result, retry] = useMutation(RetryMessageDocument);
  if (!error) return null;
  const details = [
    // 0: the gateway has decided it, without a call to the network.
    error.code === 0 ? '' : t('failure.code', { code: String(error.code) }),
    error.details && error.details !== error.title ? error.details : '',
  ].filter(Boolean);
  return (
    <div className="failure" role="note">
      <Icon name="alert" size={16} />
      <div>
        <strong>{error.title}</strong>
        <p>{t(adviceOf(error))}</p>
        {details.length > 0 && <p className="small muted">{details.join(' · ')}</p>}
        {can('MESSAGES_SEND') && isRetryable(error) && (
          <button
            type="button"
            className="button small"
            disabled={result.fetching || result.data?.retryMessage?.message != null}
            onClick={() => void retry({ input: { id } })}
          >
            <Icon name="replay" size={15} /> {t('failure.retry')}
          </button>
        )}
        <UserErrors errors={result.data?.retryMessage?.userErrors ?? []} failure={result.error} />
      </div>
    </div>
  );
}
