import { use } from 'react';
import { useAccount } from '../session/account.tsx';
import { ConnectionContext } from '../session/connection.ts';
import { useTexts } from '../texts/texts.tsx';
import { Page } from '../ui/page.tsx';
import { CostCard } from './cost-card.tsx';
import { EventList } from './event-list.tsx';
import { useLiveStreams } from './live-stream.ts';
import { MessageCards } from './message-cards.tsx';
import { QueueCards } from './queue-cards.tsx';
import { RateChart } from './rate-chart.tsx';

/** Live rates and statistics of the last 24 hours; cards that the session may not read are left out. */
export default function Live() {
  const { t, faultText } = useTexts();
  const { can } = useAccount();
  const isConnected = use(ConnectionContext);
  const { events, rates, problem } = useLiveStreams();
  return (
    <Page title={t('nav.live')} lead={t('live.lead')}>
      <p className={isConnected ? 'visually-hidden' : 'notice'} role="status">
        {isConnected ? t('live.connected') : t('live.lost')}
      </p>
      {problem !== undefined && <p className="notice danger">{faultText(problem)}</p>}
      <section className="card">
        <h2>{t('live.perSecond')}</h2>
        <RateChart rates={rates} />
      </section>
      <div className="live-grid">
        {can('MESSAGES_READ') && <MessageCards />}
        {can('COSTS_READ') && <CostCard />}
        {can('CHANNELS_READ') && <QueueCards />}
        <EventList buffer={events} />
      </div>
    </Page>
  );
}
