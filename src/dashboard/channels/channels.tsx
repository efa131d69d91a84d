import { useState } from 'react';
import { useMutation, useQuery } from 'urql';
import {
  type ChannelRowFragment,
  ChannelsDocument,
  CheckChannelDocument,
  DisconnectChannelDocument,
  PauseChannelDocument,
  ResumeChannelDocument,
} from '../documents.generated.ts';
import { useAccount } from '../session/account.tsx';
import { useDates } from '../texts/dates.ts';
import { useTexts } from '../texts/texts.tsx';
import { ConfirmButton } from '../ui/confirm-button.tsx';
import { Empty } from '../ui/empty.tsx';
import { Icon } from '../ui/icon.tsx';
import { Page } from '../ui/page.tsx';
import { UserErrors } from '../ui/user-errors.tsx';
import { AVAILABILITY_TONES, QUALITY_TONES } from './channel-tones.ts';
import { ConnectDialog } from './connect-dialog.tsx';

const TONES = { ACTIVE: 'good', PAUSED: 'warning', DISCONNECTED: 'danger' } as const;

/** Reasons in the words of the API; others are the network's own. */
const OWN_REASONS = {
  'Paused by the account.': 'channels.pausedByAccount',
  'Disconnected by the account.': 'channels.disconnectedByAccount',
} as const;
const isOwnReason = (reason: string): reason is keyof typeof OWN_REASONS => Object.hasOwn(OWN_REASONS, reason);

/** The business numbers of the account, with their health. */
export default function Channels() {
  const { t } = useTexts();
  const { can } = useAccount();
  const [{ data, fetching }, refetch] = useQuery({ query: ChannelsDocument, requestPolicy: 'cache-and-network' });
  const [isConnecting, setConnecting] = useState(false);
  const channels = data?.channels?.nodes ?? [];
  const connect = can('CHANNELS_WRITE') && (
    <button type="button" className="button primary" onClick={() => setConnecting(true)}>
      <Icon name="plus" size={17} /> {t('channels.connect')}
    </button>
  );
  return (
    <Page title={t('nav.channels')} lead={t('channels.lead')} actions={connect}>
      {channels.length === 0 && !fetching && (
        <Empty title={t('channels.noneTitle')} text={t('channels.none')} example="channel" />
      )}
      <div className="cards-grid">
        {channels.map(channel => (
          <ChannelCard key={channel.id} channel={channel} />
        ))}
      </div>
      {isConnecting && (
        <ConnectDialog
          onClose={() => {
            setConnecting(false);
            refetch({ requestPolicy: 'network-only' });
          }}
        />
      )}
    </Page>
  );
}

function ChannelCard({ channel }: { readonly channel: ChannelRowFragment }) {
  const { t, language } = useTexts();
  const { can } = useAccount();
  const dates = useDates();
  const [checked, check] = useMutation(CheckChannelDocument);
  const [paused, pause] = useMutation(PauseChannelDocument);
  const [resumed, resume] = useMutation(ResumeChannelDocument);
  const [disconnected, disconnect] = useMutation(DisconnectChannelDocument);
  const { id, name, displayPhoneNumber, verifiedName, status, statusReason, isDefault, isSandbox, health } = channel;
  const facts: readonly (readonly [string, string])[] = [
    [t('channels.rate'), t('channels.perSecond', { count: channel.messagesPerSecond })],
    ...(health
      ? [
          [t('channels.queued'), health.queuedCount.toLocaleString(language)] as const,
          [
            t('channels.limit'),
            health.isMessagingLimitKnown
              ? (health.messagingLimit?.toLocaleString(language) ?? t('unlimited'))
              : t('unknown'),
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
            <bdi>{displayPhoneNumber}</bdi> · <bdi>{verifiedName}</bdi>
          </p>
        </div>
        <span className={`chip ${TONES[status]}`}>{t(`channelStatus.${status}`)}</span>
      </header>
      <div className="tags">
        {health && status !== 'DISCONNECTED' && (
          <>
            <span className={`chip ${AVAILABILITY_TONES[health.canSend]}`}>{t(`availability.${health.canSend}`)}</span>
            <span className={`chip ${QUALITY_TONES[health.quality]}`}>
              {t('channels.quality')}: {t(`quality.${health.quality}`)}
            </span>
          </>
        )}
        {isDefault && <span className="chip">{t('channels.default')}</span>}
        {isSandbox && <span className="chip info">{t('channels.sandbox')}</span>}
      </div>
      {statusReason && (
        <p className="notice">{isOwnReason(statusReason) ? t(OWN_REASONS[statusReason]) : statusReason}</p>
      )}
      {health?.lastError && <p className="small tone-failed">{health.lastError.title}</p>}
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
          ...(disconnected.data?.disconnectChannel?.userErrors ?? []),
        ]}
        failure={checked.error ?? paused.error ?? resumed.error ?? disconnected.error}
      />
      {disconnected.data?.disconnectChannel?.channel && (
        <p className="muted small" role="status">
          {t('channels.cancelled', { count: disconnected.data.disconnectChannel.cancelledCount })}
        </p>
      )}
      {can('CHANNELS_WRITE') && status !== 'DISCONNECTED' && (
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
          <ConfirmButton
            className="button small"
            question={t('channels.disconnectTitle', { name })}
            consequence={t('channels.disconnectText')}
            action={t('channels.disconnect')}
            onConfirm={() => disconnect({ input: { id } })}
          >
            {t('channels.disconnect')}
          </ConfirmButton>
        </div>
      )}
    </article>
  );
}
