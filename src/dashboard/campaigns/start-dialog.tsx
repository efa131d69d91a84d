import { type FormEvent, useState } from 'react';
import { useMutation, useQuery } from 'urql';
import { type CampaignItemFragment, CampaignPreviewedDocument, StartCampaignDocument } from '../documents.generated.ts';
import { useTexts } from '../texts/texts.tsx';
import { Dialog } from '../ui/dialog.tsx';
import { presentTime } from '../ui/now.ts';
import { errorsOf, UserErrors } from '../ui/user-errors.tsx';

interface Props {
  readonly campaign: CampaignItemFragment;
  readonly onClose: () => void;
}

/** A local time for `datetime-local`, in an hour. */
function inAnHour(): string {
  const date = new Date(presentTime() + 3_600_000);
  return new Date(date.getTime() - date.getTimezoneOffset() * 60_000).toISOString().slice(0, 16);
}

/** Starts a campaign, now or at a time, after showing the number of recipients. */
export function StartDialog({ campaign, onClose }: Props) {
  const { t } = useTexts();
  const [isLater, setLater] = useState(campaign.status === 'SCHEDULED');
  const [time, setTime] = useState(inAnHour);
  // Counted again, because the preview of the page may be an hour old.
  const [{ data: counted }] = useQuery({
    query: CampaignPreviewedDocument,
    variables: { id: campaign.id },
    requestPolicy: 'network-only',
  });
  const [{ data, error, fetching }, start] = useMutation(StartCampaignDocument);
  const errors = data?.startCampaign?.userErrors ?? [];
  const count = counted?.previewCampaign?.recipientCount;
  const submit = async (event: FormEvent): Promise<void> => {
    event.preventDefault();
    const scheduledAt = isLater ? new Date(time).toISOString() : undefined;
    const { data: done } = await start({ input: { id: campaign.id, scheduledAt } });
    if (done?.startCampaign?.campaign) onClose();
  };
  return (
    <Dialog title={t('start.title', { name: campaign.name })} onClose={onClose}>
      <form className="form" onSubmit={event => void submit(event)}>
        {count !== undefined && <p>{t('start.text', { count })}</p>}
        <fieldset className="choices" aria-label={t('start.when')}>
          <label className="choice-card">
            <input type="radio" name="when" checked={!isLater} onChange={() => setLater(false)} />
            <span>
              <strong>{t('start.now')}</strong>
              <span className="muted small">{t('start.nowHint')}</span>
            </span>
          </label>
          <label className="choice-card">
            <input type="radio" name="when" checked={isLater} onChange={() => setLater(true)} />
            <span>
              <strong>{t('start.later')}</strong>
              <span className="muted small">{t('start.laterHint')}</span>
            </span>
          </label>
        </fieldset>
        {isLater && (
          <label className="field">
            <span>{t('start.time')}</span>
            <input type="datetime-local" required value={time} onChange={event => setTime(event.target.value)} />
            {errorsOf(errors, 'scheduledAt') && <span className="field-error">{errorsOf(errors, 'scheduledAt')}</span>}
          </label>
        )}
        <UserErrors errors={errors.filter(({ path }) => path?.[0] !== 'scheduledAt')} failure={error} />
        <div className="dialog-foot">
          <button type="button" className="button" onClick={onClose}>
            {t('cancel')}
          </button>
          <button type="submit" className="button primary" disabled={fetching}>
            {t(isLater ? 'start.schedule' : 'start.go')}
          </button>
        </div>
      </form>
    </Dialog>
  );
}
