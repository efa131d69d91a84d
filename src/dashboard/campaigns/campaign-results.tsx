import { useEffect } from 'react';
import { useQuery } from 'urql';
import { type CampaignItemFragment, CampaignSkipsDocument } from '../documents.generated.ts';
import { moneyText } from '../texts/money.ts';
import { useTexts } from '../texts/texts.tsx';
import { Progress } from '../ui/progress.tsx';
import { settledOf } from './campaign-status.tsx';

/** Results of a campaign: funnel, replies, and the reasons of skips and failures. */
export function CampaignResults({ campaign }: { readonly campaign: CampaignItemFragment }) {
  const { t, language } = useTexts();
  const { progress, status } = campaign;
  const { total, sent, delivered, read, replied, failed, skipped, optedOut, pending, cost } = progress;
  const number = (value: number): string => value.toLocaleString(language);
  const share = (value: number, of: number): string =>
    of === 0 ? '' : new Intl.NumberFormat(language, { style: 'percent', maximumFractionDigits: 1 }).format(value / of);
  const steps = [
    ['recipients', total, ''],
    ['sent', sent, 'tone-sent'],
    ['delivered', delivered, 'tone-delivered'],
    ['read', read, 'tone-read'],
    ['replied', replied, 'tone-replied'],
  ] as const;
  const isMoving = status === 'RUNNING' || status === 'PAUSED';
  return (
    <>
      {isMoving && (
        <section className="card campaign-progress" aria-live="off">
          <div className="progress-words">
            <strong>{t('campaigns.settled', { done: settledOf(campaign), total })}</strong>
            <span className="muted">{t('campaigns.pendingLeft', { count: pending })}</span>
          </div>
          <Progress label={t('campaigns.progress')} value={settledOf(campaign)} max={total} />
        </section>
      )}
      <div className="campaign-columns">
        <section className="card">
          <h2>{t('campaigns.funnel')}</h2>
          <ol className="campaign-funnel">
            {steps.map(([step, value, tone]) => (
              <li key={step}>
                <span className="funnel-name">{t(`campaigns.${step}`)}</span>
                <span className="funnel-track" aria-hidden="true">
                  <i
                    className={`funnel-bar ${tone}`}
                    style={{ inlineSize: `${total === 0 ? 0 : (100 * value) / total}%` }}
                  />
                </span>
                <strong className="number">{number(value)}</strong>
                <span className="muted small number">{step === 'recipients' ? '' : share(value, total)}</span>
              </li>
            ))}
          </ol>
        </section>
        <section className="card">
          <h2>{t('campaigns.outcome')}</h2>
          <dl className="pairs">
            <div>
              <dt>{t('campaigns.optedOut')}</dt>
              <dd>
                {number(optedOut)} <span className="muted small">{share(optedOut, delivered)}</span>
              </dd>
            </div>
            <div>
              <dt>{t('campaigns.failed')}</dt>
              <dd className={failed > 0 ? 'tone-failed' : undefined}>
                {number(failed)} <span className="muted small">{share(failed, total - skipped - pending)}</span>
              </dd>
            </div>
            <div>
              <dt>{t('campaigns.skipped')}</dt>
              <dd>{number(skipped)}</dd>
            </div>
            <div>
              <dt>{t('campaigns.pending')}</dt>
              <dd>{number(pending)}</dd>
            </div>
            <div>
              <dt>{t('campaigns.cost')}</dt>
              <dd>{cost.length > 0 ? moneyText(cost, language) : t('campaigns.noPrices')}</dd>
            </div>
          </dl>
        </section>
      </div>
      {(failed > 0 || skipped > 0) && <Reasons campaign={campaign} />}
    </>
  );
}

function Reasons({ campaign }: { readonly campaign: CampaignItemFragment }) {
  const { t, language } = useTexts();
  const { failures, failed, skipped } = campaign.progress;
  const [{ data }, refetch] = useQuery({
    query: CampaignSkipsDocument,
    variables: { id: campaign.id },
    requestPolicy: 'cache-and-network',
  });
  const skips = data?.campaign?.progress.skips ?? [];
  const counted = skips.reduce((sum, { count }) => sum + count, 0);
  // More were skipped since the reasons were counted.
  useEffect(() => {
    if (counted >= skipped) return;
    const timer = setTimeout(() => refetch({ requestPolicy: 'network-only' }), 1_000);
    return () => clearTimeout(timer);
  }, [counted, skipped, refetch]);
  return (
    <div className="campaign-columns even">
      {failed > 0 && (
        <section className="card">
          <h2>{t('campaigns.whyFailed')}</h2>
          <ul className="facts">
            {failures.map(({ code, title, count }) => (
              <li key={code}>
                <span>
                  {title ?? t(code === 0 ? 'campaigns.refusedHere' : 'campaigns.unknownError')}
                  {code !== 0 && <span className="muted small"> {t('failure.code', { code: String(code) })}</span>}
                </span>
                <strong className="number">{count.toLocaleString(language)}</strong>
              </li>
            ))}
          </ul>
        </section>
      )}
      {skipped > 0 && (
        <section className="card">
          <h2>{t('campaigns.whySkipped')}</h2>
          <ul className="facts">
            {skips.map(({ reason, count }) => (
              <li key={reason}>
                <span>{t(`skip.${reason}`)}</span>
                <strong className="number">{count.toLocaleString(language)}</strong>
              </li>
            ))}
          </ul>
        </section>
      )}
    </div>
  );
}
