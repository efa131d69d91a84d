import { useMutation, useQuery } from 'urql';
import {
  type ChannelRowFragment,
  ChannelsDocument,
  CheckChannelDocument,
  PauseChannelDocument,
  ResumeChannelDocument,
} from '../documents.generated.ts';
import { useAccount } from '../session/account.tsx';
import { useDates } from '../texts/dates.ts';
import { useTexts } from '../texts/texts.tsx';
import { Empty } from '../ui/empty.tsx';
import { Page } from '../ui/page.tsx';
import { UserErrors } from '../ui/user-errors.tsx';

const TONES = { ACTIVE: 'good', PAUSED: 'warning', DISCONNECTED: 'danger' } as const;
const QUALITY_TONES = { GREEN: 'good', YELLOW: 'warning', RED: 'danger', UNKNOWN: '' } as const;

/** The numbers of the account, and how they are. */
export default function Channels() {
  const { t } = useTexts();
  const [{ data, fetching }] = useQuery({ query: ChannelsDocument, requestPolicy: 'cache-and-network' });
  const channels = data?.channels?.nodes ?? [];
  return (
    <Page title={t('nav.channels')} lead={t('channels.lead')}>
      {channels.length === 0 && !fetching && (
        <Empty title={t('channels.noneTitle')} text={t('channels.none')} example="channel" />
      )}
      <div className="cards-grid">
        {channels.map(channel => (
          <ChannelCard key={channel.id} channel={channel} />
        ))}
      </div>
    </Page>
  );
}

function ChannelCard({ channel }: { readonly channel: ChannelRowFragment }) {
  const { t } = useTexts();
  const { can } = useAccount();
  const dates = useDates();
  const [checked, check] = useMutation(CheckChannelDocument);
  const [paused, pause] = useMutation(PauseChannelDocument);
  const [resumed, resume] = useMutation(ResumeChannelDocument);
  const { id, name, displayPhoneNumber, verifiedName, status, statusReason, isDefault, isSandbox, health } = channel;
  const facts: readonly (readonly [string, string])[] = [
    [t('channels.rate'), t('channels.perSecond', { count: channel.messagesPerSecond })],
    ...(health
      ? [
          [t('channels.queued'), health.queuedCount.toLocaleString()] as const,
          [
            t('channels.limit'),
            health.isMessagingLimitKnown ? (health.messagingLimit?.toLocaleString() ?? t('unlimited')) : t('unknown'),
          ] as const,
          [t('channels.lastWebhook'), health.lastWebhookAt ? dates.full(health.lastWebhookAt) : t('never')] as const,
          [t('channels.checked'), health.checkedAt ? dates.full(health.checkedAt) : t('never')] as const,
        ]
      : []),
    [t('channels.phoneNumberId'), channel.phoneNumberId],
    [t('channels.wabaId'), channel.wabaId],
  ];
  return (
    <article className="card channel-card">
      <header>
        <div>
          <h2>{name}</h2>
          <p className="muted">
            <bdi>{displayPhoneNumber}</bdi> · {verifiedName}
          </p>
        </div>
        <span className={`chip ${TONES[status]}`}>{t(`channelStatus.${status}`)}</span>
      </header>
      <div className="tags">
        {health && (
          <span className={`chip ${QUALITY_TONES[health.quality]}`}>
            {t('channels.quality')}: {t(`quality.${health.quality}`)}
          </span>
        )}
        {isDefault && <span className="chip">{t('channels.default')}</span>}
        {isSandbox && <span className="chip info">{t('channels.sandbox')}</span>}
      </div>
      {statusReason && <p className="notice">{statusReason}</p>}
      <dl className="pairs">
        {facts.map(([label, value]) => (
          <div key={label}>
            <dt>{label}</dt>
            <dd>{value}</dd>
          </div>
        ))}
      </dl>
      <UserErrors
        errors={[
          ...(checked.data?.checkChannel?.userErrors ?? []),
          ...(paused.data?.pauseChannel?.userErrors ?? []),
          ...(resumed.data?.resumeChannel?.userErrors ?? []),
        ]}
        failure={checked.error ?? paused.error ?? resumed.error}
      />
      {can('CHANNELS_WRITE') && (
        <div className="page-actions">
          <button
            type="button"
            className="button small"
            disabled={checked.fetching}
            onClick={() => void check({ input: { id } })}
          >
            {t('channels.check')}
          </button>
          {status === 'ACTIVE' && (
            <button type="button" className="button small" onClick={() => void pause({ input: { id } })}>
              {t('pause')}
            </button>
          )}
          {status === 'PAUSED' && (
            <button type="button" className="button small primary" onClick={() => void resume({ input: { id } })}>
              {t('resume')}
            </button>
          )}
        </div>
      )}
    </article>
  );
}
