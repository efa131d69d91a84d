import { use, useEffect, useMemo, useState } from 'react';
import { useQuery } from 'urql';
import { ChannelsDocument, LiveStatisticsDocument, type MessageStatus } from '../documents.generated.ts';
import { useAccount } from '../session/account.tsx';
import { ConnectionContext } from '../session/connection.ts';
import { useDates } from '../texts/dates.ts';
import { useTexts } from '../texts/texts.tsx';
import { Icon } from '../ui/icon.tsx';
import { useNow } from '../ui/now.ts';
import { Page } from '../ui/page.tsx';
import type { EventBuffer, LiveEvent } from './event-buffer.ts';
import { useEventBuffer } from './live-stream.ts';
import { RateChart } from './rate-chart.tsx';

const FUNNEL = ['QUEUED', 'SENT', 'DELIVERED', 'READ', 'FAILED'] as const satisfies readonly MessageStatus[];
const DAY = 86_400_000;
/** The list is drawn this often, however many events arrive. */
const DRAW_MS = 500;

/** What happens now: events as they come, and the messages of the last day. */
export default function Live() {
  const { t, language } = useTexts();
  const { can } = useAccount();
  const isConnected = use(ConnectionContext);
  const { buffer, problem } = useEventBuffer();
  const minute = Math.floor(useNow(15_000) / 60_000);
  const since = useMemo(
    () => new Date(Math.floor((minute * 60_000 - DAY) / 3_600_000) * 3_600_000).toISOString(),
    [minute],
  );
  const [{ data }, refetch] = useQuery({
    query: LiveStatisticsDocument,
    variables: { since },
    pause: !can('MESSAGES_READ'),
    requestPolicy: 'cache-and-network',
  });
  useEffect(() => {
    const timer = setInterval(() => refetch({ requestPolicy: 'network-only' }), 10_000);
    return () => clearInterval(timer);
  }, [refetch]);
  const [{ data: numbers }] = useQuery({ query: ChannelsDocument, pause: !can('CHANNELS_READ') });
  const outbound = data?.byStatus?.series.filter(({ direction }) => direction === 'OUTBOUND') ?? [];
  const count = (status: MessageStatus): number =>
    outbound.filter(point => point.status === status).reduce((sum, point) => sum + point.count, 0);
  const all = outbound.reduce((sum, point) => sum + point.count, 0);
  const inbound = (data?.byStatus?.total ?? 0) - all;
  const latency = data?.latency?.series.findLast(({ deliveryMsP50 }) => deliveryMsP50 !== null);
  const queued = numbers?.channels?.nodes.reduce((sum, { health }) => sum + (health?.queuedCount ?? 0), 0);
  return (
    <Page title={t('nav.live')} lead={t('live.lead')}>
      {!isConnected && (
        <p className="notice" role="status">
          {t('live.lost')}
        </p>
      )}
      {problem !== undefined && <p className="notice danger">{problem}</p>}
      <div className="cards-grid small">
        <Figure label={t('live.inbound')} value={inbound.toLocaleString(language)} />
        {FUNNEL.map(status => (
          <Figure
            key={status}
            label={t(`message.${status}`)}
            value={count(status).toLocaleString(language)}
            tone={status}
          />
        ))}
        <Figure label={t('live.latency', { share: 'p50' })} value={secondsText(latency?.deliveryMsP50)} />
        <Figure label={t('live.latency', { share: 'p95' })} value={secondsText(latency?.deliveryMsP95)} />
        <Figure label={t('channels.queued')} value={queued?.toLocaleString(language) ?? '–'} />
      </div>
      <section className="card">
        <h2>{t('live.perSecond')}</h2>
        <RateChart buffer={buffer} />
      </section>
      <div className="live-columns">
        <EventList buffer={buffer} />
        <section className="card">
          <h2>{t('live.failures')}</h2>
          <ul className="facts">
            {data?.failures?.series.map(({ errorCode, count: failed }) => (
              <li key={String(errorCode)}>
                <code>{errorCode ?? '–'}</code>
                <span className="number">{failed.toLocaleString(language)}</span>
              </li>
            ))}
          </ul>
          {data?.failures?.series.length === 0 && <p className="muted">{t('live.noFailures')}</p>}
        </section>
      </div>
    </Page>
  );
}

const secondsText = (ms: number | null | undefined): string => (ms == null ? '–' : `${(ms / 1_000).toFixed(1)} s`);

function Figure({ label, value, tone }: { readonly label: string; readonly value: string; readonly tone?: string }) {
  return (
    <article className="card stat">
      <h2>{label}</h2>
      <p className={tone === undefined ? 'figure' : `figure tone-${tone.toLowerCase()}`}>{value}</p>
    </article>
  );
}

/** The stream of events: a picture twice a second, which can be stopped and filtered. */
function EventList({ buffer }: { readonly buffer: EventBuffer }) {
  const { t, language } = useTexts();
  const dates = useDates();
  const [events, setEvents] = useState<readonly LiveEvent[]>([]);
  const [isPaused, setPaused] = useState(false);
  const [filter, setFilter] = useState('');
  useEffect(() => {
    if (isPaused) return;
    const timer = setInterval(() => setEvents(buffer.latest()), DRAW_MS);
    return () => clearInterval(timer);
  }, [isPaused, buffer]);
  const wanted = filter.trim().toUpperCase().replace(/[. ]/g, '_');
  const shown = wanted === '' ? events : events.filter(({ type }) => type.includes(wanted));
  return (
    <section className="card">
      <header className="page-head">
        <h2>
          {t('live.events')} <span className="muted small">{buffer.total.toLocaleString(language)}</span>
        </h2>
        <div className="page-actions">
          <input
            className="filter"
            aria-label={t('live.filter')}
            placeholder="message"
            value={filter}
            onChange={event => setFilter(event.target.value)}
          />
          <button type="button" className="button small" aria-pressed={isPaused} onClick={() => setPaused(!isPaused)}>
            <Icon name={isPaused ? 'play' : 'pause'} size={15} /> {isPaused ? t('resume') : t('pause')}
          </button>
        </div>
      </header>
      <ul className="event-list" aria-label={t('live.events')} {...SCROLLABLE}>
        {shown.length === 0 && <li className="muted">{t('live.waiting')}</li>}
        {shown.slice(0, 100).map(({ id, type, occurredAt }) => (
          <li key={id}>
            <time className="muted" dateTime={occurredAt}>
              {dates.time(occurredAt)}
            </time>
            <code>{type.toLowerCase()}</code>
          </li>
        ))}
      </ul>
    </section>
  );
}

/** A scroll area is reached with the keyboard. */
const SCROLLABLE = { tabIndex: 0 };
