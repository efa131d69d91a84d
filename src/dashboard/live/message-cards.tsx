import { useMemo } from 'react';
import { LiveStatisticsDocument, type LiveStatisticsQuery, type MessageStatus } from '../documents.generated.ts';
import { useTexts } from '../texts/texts.tsx';
import { useNow } from '../ui/now.ts';
import { Figure } from './figure.tsx';
import { LatencyChart } from './latency-chart.tsx';
import { reasonOf } from './reason.ts';
import { usePolling } from './use-polling.ts';

const HOUR = 3_600_000;
const DAY = 24 * HOUR;

/** Each step includes the later ones: a message that was read was also delivered. */
const FUNNEL = [
  { status: 'QUEUED', label: 'live.accepted', of: ['SCHEDULED', 'QUEUED', 'SENT', 'DELIVERED', 'READ', 'FAILED'] },
  { status: 'SENT', label: 'message.SENT', of: ['SENT', 'DELIVERED', 'READ'] },
  { status: 'DELIVERED', label: 'message.DELIVERED', of: ['DELIVERED', 'READ'] },
  { status: 'READ', label: 'message.READ', of: ['READ'] },
  { status: 'FAILED', label: 'message.FAILED', of: ['FAILED'] },
] as const satisfies readonly { status: MessageStatus; label: string; of: readonly MessageStatus[] }[];

/** Statistics of the messages of the last 24 hours: funnel, failures, latency, one-time passwords. */
export function MessageCards() {
  const { t } = useTexts();
  const hour = Math.floor(useNow(15_000) / HOUR);
  const variables = useMemo(() => ({ since: new Date(hour * HOUR - DAY).toISOString() }), [hour]);
  const data = usePolling(LiveStatisticsDocument, variables);
  return (
    <>
      <Funnel data={data} />
      <section className="card">
        <h2>{t('live.latencyTitle')}</h2>
        <LatencyChart points={data?.latency?.series ?? []} />
      </section>
      <Failures data={data} />
      <Otps data={data} />
    </>
  );
}

interface Props {
  readonly data: LiveStatisticsQuery | undefined;
}

function Funnel({ data }: Props) {
  const { t, language } = useTexts();
  const outbound = data?.byStatus?.series.filter(({ direction }) => direction === 'OUTBOUND') ?? [];
  const count = (statuses: readonly MessageStatus[]): number =>
    outbound.reduce((sum, point) => (point.status && statuses.includes(point.status) ? sum + point.count : sum), 0);
  const accepted = count(FUNNEL[0].of);
  const inbound = (data?.byStatus?.total ?? 0) - outbound.reduce((sum, point) => sum + point.count, 0);
  const percent = new Intl.NumberFormat(language, { style: 'percent', maximumFractionDigits: 1 });
  return (
    <section className="card">
      <header className="card-head">
        <h2>{t('live.funnel')}</h2>
        <span className="muted small">{t('live.received', { count: inbound })}</span>
      </header>
      <ol className="funnel">
        {FUNNEL.map(({ status, label, of }) => {
          const value = count(of);
          return (
            <li key={status}>
              <span>{t(label)}</span>
              <span className="number">{value.toLocaleString(language)}</span>
              <span className="number muted">{accepted === 0 ? '–' : percent.format(value / accepted)}</span>
              <progress
                className={`series-${status.toLowerCase()}`}
                max={Math.max(1, accepted)}
                value={value}
                aria-label={t(label)}
              />
            </li>
          );
        })}
      </ol>
    </section>
  );
}

function Failures({ data }: Props) {
  const { t, language } = useTexts();
  const failures = [...(data?.failures?.series ?? [])].sort((one, other) => other.count - one.count);
  return (
    <section className="card">
      <h2>{t('live.failures')}</h2>
      {data && failures.length === 0 && <p className="muted">{t('live.noFailures')}</p>}
      <ul className="facts">
        {failures.slice(0, 8).map(({ errorCode, count }) => (
          <li key={String(errorCode)}>
            <span>
              {t(reasonOf(errorCode))} {errorCode !== null && <code className="muted small">{errorCode}</code>}
            </span>
            <span className="number tone-failed">{count.toLocaleString(language)}</span>
          </li>
        ))}
      </ul>
    </section>
  );
}

function Otps({ data }: Props) {
  const { t, language } = useTexts();
  const sent = data?.otps?.totalCount ?? 0;
  const verified = data?.verifiedOtps?.totalCount ?? 0;
  const failed = data?.endedOtps?.totalCount ?? 0;
  const percent = new Intl.NumberFormat(language, { style: 'percent', maximumFractionDigits: 1 });
  return (
    <section className="card">
      <h2>{t('live.otps')}</h2>
      {data && sent === 0 ? (
        <p className="muted">{t('live.noOtps')}</p>
      ) : (
        <>
          <p className="figure">{sent === 0 ? '–' : percent.format(verified / sent)}</p>
          <dl className="figures">
            <Figure label={t('live.otpsSent')} value={sent.toLocaleString(language)} />
            <Figure label={t('live.otpsVerified')} value={verified.toLocaleString(language)} tone="delivered" />
            <Figure label={t('live.otpsEnded')} value={failed.toLocaleString(language)} tone="failed" />
          </dl>
        </>
      )}
    </section>
  );
}
