import { useQuery } from 'urql';
import { UsageDocument, type UsageQuery } from '../documents.generated.ts';
import { useDates } from '../texts/dates.ts';
import { useTexts } from '../texts/texts.tsx';
import { Page } from '../ui/page.tsx';
import { sizeText } from '../ui/size.ts';

const COUNTERS = ['messages', 'conversations', 'contacts', 'staff'] as const;
const FEATURES = ['bots', 'integrations', 'interactive', 'media', 'otp', 'templates', 'webhooks'] as const;

type Subscription = NonNullable<UsageQuery['account']>['subscription'];

const TONES = { ACTIVE: 'good', EXPIRED: 'warning', SUSPENDED: 'danger' } as const;

/** The plan, whether it still runs, and until when. */
function Plan({ subscription: { planName, status, expiresAt } }: { readonly subscription: Subscription }) {
  const { t } = useTexts();
  const dates = useDates();
  return (
    <section className="card plan" aria-label={t('usage.plan')}>
      <div>
        <h2>{t('usage.plan')}</h2>
        <p className="figure">{planName}</p>
      </div>
      <div>
        <span className={`chip ${TONES[status]}`}>{t(`subscription.${status}`)}</span>
        <p className="muted small">
          {expiresAt === null
            ? t('usage.endless')
            : t(status === 'EXPIRED' ? 'usage.ended' : 'usage.ends', { time: dates.full(expiresAt) })}
        </p>
        {status !== 'ACTIVE' && <p className="small">{t(`subscription.${status}Hint`)}</p>}
      </div>
    </section>
  );
}

/** Limits of the plan, and their usage. */
export default function Usage() {
  const { t, language } = useTexts();
  const dates = useDates();
  const [{ data }] = useQuery({ query: UsageDocument, requestPolicy: 'cache-and-network' });
  const account = data?.account;
  if (!account) return <Page title={t('nav.usage')}>{null}</Page>;
  const { usage, limits, subscription } = account;
  return (
    <Page title={t('nav.usage')} lead={t('usage.lead', { end: dates.utcDate(usage.periodEnd) })}>
      <Plan subscription={subscription} />
      <div className="cards-grid">
        {COUNTERS.map(name => {
          const { current, limit, isUnlimited, percentageUsed } = usage[name];
          return (
            <article key={name} className="card">
              <h2>{t(`usage.${name}`)}</h2>
              <p className="figure">
                {current.toLocaleString(language)}
                <span className="muted small"> / {isUnlimited ? t('unlimited') : limit?.toLocaleString(language)}</span>
              </p>
              {!isUnlimited && (
                <meter
                  min={0}
                  max={100}
                  high={90}
                  low={75}
                  optimum={0}
                  value={percentageUsed ?? 0}
                  aria-label={t(`usage.${name}`)}
                />
              )}
            </article>
          );
        })}
        <article className="card">
          <h2>{t('usage.files')}</h2>
          <p className="figure">
            <bdi>{sizeText(usage.mediaBytes, language)}</bdi>
            <span className="muted small"> {t('usage.fileCount', { count: usage.mediaFiles })}</span>
          </p>
        </article>
        <article className="card">
          <h2>{t('usage.calls')}</h2>
          <p className="figure">{limits.apiCallsPerMinute.limit?.toLocaleString(language) ?? t('unlimited')}</p>
        </article>
      </div>
      <section className="features">
        <h2>{t('usage.features')}</h2>
        <div className="tags">
          {FEATURES.map(name => (
            <span key={name} className={limits.features[name] ? 'chip good' : 'chip'}>
              {t(`feature.${name}`)}
            </span>
          ))}
        </div>
      </section>
    </Page>
  );
}
