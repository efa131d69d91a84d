import { useState } from 'react';
import { useMutation } from 'urql';
import {
  CancelMessageDocument,
  RescheduleMessageDocument,
  type ThreadMessageFragment,
} from '../documents.generated.ts';
import { useAccount } from '../session/account.tsx';
import { useDates } from '../texts/dates.ts';
import { useTexts } from '../texts/texts.tsx';
import { Icon } from '../ui/icon.tsx';
import { useNow } from '../ui/now.ts';
import { UserErrors } from '../ui/user-errors.tsx';
import { SendLaterDialog } from './send-later.tsx';

/** When a scheduled message is sent, and how to change that. */
export function Scheduled({ message: { id, scheduledAt } }: { readonly message: ThreadMessageFragment }) {
  const { t } = useTexts();
  const { can } = useAccount();
  const dates = useDates();
  const now = useNow();
  const [moved, reschedule] = useMutation(RescheduleMessageDocument);
  const [cancelled, cancel] = useMutation(CancelMessageDocument);
  const [isOpen, setOpen] = useState(false);
  if (!scheduledAt) return null;
  const move = async (instant: string): Promise<void> => {
    const { data } = await reschedule({ input: { id, scheduledAt: { instant } } });
    if (data?.rescheduleMessage?.message) setOpen(false);
  };
  const errors = moved.data?.rescheduleMessage?.userErrors ?? [];
  return (
    <div className="scheduled-note">
      <p>
        <Icon name="clock" size={15} /> {t('later.scheduled', { time: dates.moment(scheduledAt, now) })}
      </p>
      {can('MESSAGES_SEND') && (
        <div className="scheduled-actions">
          <button type="button" className="link-button" onClick={() => setOpen(true)}>
            {t('later.change')}
          </button>
          <button
            type="button"
            className="link-button"
            disabled={cancelled.fetching}
            onClick={() => void cancel({ input: { id } })}
          >
            {t('later.cancel')}
          </button>
        </div>
      )}
      <UserErrors errors={cancelled.data?.cancelMessage?.userErrors ?? []} failure={cancelled.error ?? moved.error} />
      {isOpen && (
        <SendLaterDialog
          title={t('later.change')}
          action={t('later.move')}
          initial={scheduledAt}
          errors={errors}
          onChoose={instant => void move(instant)}
          onClose={() => setOpen(false)}
        />
      )}
    </div>
  );
}
