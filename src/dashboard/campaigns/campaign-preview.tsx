import { useEffect } from 'react';
import { useQuery } from 'urql';
import { type CampaignMoreFragment, CampaignPreviewedDocument } from '../documents.generated.ts';
import { RenderedTemplate } from '../inbox/rendered-template.tsx';
import { useDurations } from '../texts/durations.ts';
import { moneyText } from '../texts/money.ts';
import { useTexts } from '../texts/texts.tsx';
import { Icon } from '../ui/icon.tsx';
import { UserErrors } from '../ui/user-errors.tsx';

/** Before the start: who gets the message and who does not, how long it takes, what it costs, and three messages as they would be. */
export function CampaignPreview({ campaign }: { readonly campaign: CampaignMoreFragment }) {
  const { t, language } = useTexts();
  const durationOf = useDurations();
  const [{ data, fetching, error }, refetch] = useQuery({
    query: CampaignPreviewedDocument,
    variables: { id: campaign.id },
    requestPolicy: 'network-only',
  });
  // A changed campaign has another preview.
  const key = JSON.stringify([campaign.audience, campaign.content, campaign.frequencyCap, campaign.sendingHours]);
  useEffect(() => {
    if (key) refetch({ requestPolicy: 'network-only' });
  }, [key, refetch]);
  const preview = data?.previewCampaign;
  if (!preview)
    return error ? <UserErrors failure={error} /> : <p className="muted">{fetching ? t('preview.counting') : ''}</p>;
  const number = (value: number): string => value.toLocaleString(language);
  const skipped = preview.skips.reduce((sum, { count }) => sum + count, 0);
  const { dailyLimit, reachedCount, recipientCount, overPlanCount, waitingCount } = preview;
  const isOverDay = dailyLimit !== null && recipientCount > dailyLimit - (reachedCount ?? 0);
  return (
    <>
      <div className="cards-grid small stats">
        <article className="card stat">
          <h2>{t('preview.recipients')}</h2>
          <p className="figure">{number(recipientCount)}</p>
          <p className="muted small">{t('preview.ofAudience', { count: preview.audienceCount })}</p>
        </article>
        <article className="card stat">
          <h2>{t('preview.skipped')}</h2>
          <p className="figure">{number(skipped)}</p>
        </article>
        <article className="card stat">
          <h2>{t('preview.duration')}</h2>
          <p className="figure">{preview.durationSeconds === null ? '–' : durationOf(preview.durationSeconds)}</p>
          {waitingCount > 0 && <p className="muted small">{t('preview.waiting', { count: waitingCount })}</p>}
        </article>
        <article className="card stat">
          <h2>{t('preview.cost')}</h2>
          <p className="figure">{preview.cost && preview.cost.length > 0 ? moneyText(preview.cost, language) : '–'}</p>
          {!preview.cost?.length && <p className="muted small">{t('preview.noPrices')}</p>}
        </article>
      </div>
      {overPlanCount > 0 && <p className="notice danger">{t('preview.overPlan', { count: overPlanCount })}</p>}
      {isOverDay && (
        <p className="notice">
          {t('preview.overDay', { limit: number(dailyLimit ?? 0), reached: number(reachedCount ?? 0) })}
        </p>
      )}
      <div className="campaign-columns">
        <section className="card">
          <h2>{t('preview.samples')}</h2>
          {preview.samples.length === 0 && <p className="muted">{t('preview.nobody')}</p>}
          <ul className="samples">
            {preview.samples.map(({ contact, rendered, fault }) => (
              <li key={contact?.id ?? fault}>
                <p className="small">
                  <strong>{contact?.displayName}</strong>{' '}
                  <bdi className="muted">{contact?.displayName === contact?.phone ? '' : contact?.phone}</bdi>
                </p>
                <div className="preview">
                  {rendered ? (
                    <div className="bubble ours">
                      <RenderedTemplate rendered={rendered} />
                    </div>
                  ) : (
                    <p className="notice danger">{fault}</p>
                  )}
                </div>
              </li>
            ))}
          </ul>
        </section>
        <section className="card">
          <h2>{t('preview.whoNot')}</h2>
          {skipped === 0 ? (
            <p className="muted">{t('preview.everybody')}</p>
          ) : (
            <ul className="facts">
              {preview.skips.map(({ reason, count }) => (
                <li key={reason}>
                  <span>{t(`skip.${reason}`)}</span>
                  <strong className="number">{number(count)}</strong>
                </li>
              ))}
            </ul>
          )}
          <button
            type="button"
            className="button small"
            disabled={fetching}
            onClick={() => refetch({ requestPolicy: 'network-only' })}
          >
            <Icon name="replay" size={16} /> {t('preview.again')}
          </button>
        </section>
      </div>
    </>
  );
}
