import { AVAILABILITY_TONES, QUALITY_TONES } from '../channels/channel-tones.ts';
import { type LaneState, LiveQueuesDocument, type LiveQueuesQuery } from '../documents.generated.ts';
import { useDates } from '../texts/dates.ts';
import { useTexts } from '../texts/texts.tsx';
import { useNow } from '../ui/now.ts';
import { TableBox } from '../ui/table-box.tsx';
import { usePolling } from './use-polling.ts';

type Lane = NonNullable<LiveQueuesQuery['lanes']>[number];
type Channel = NonNullable<LiveQueuesQuery['channels']>['nodes'][number];

const TONES: Readonly<Record<LaneState, string>> = { RUNNING: 'info', WAITING: 'warning', RESTING: 'danger', IDLE: '' };

const NONE = {};

/** The queues of the account with the state of their lanes, and the health of its numbers. */
export function QueueCards() {
  const { t } = useTexts();
  const data = usePolling(LiveQueuesDocument, NONE);
  const channels = data?.channels?.nodes ?? [];
  // A campaign that is over leaves an idle lane.
  const lanes = (data?.lanes ?? []).filter(({ queue, state }) => queue !== 'CAMPAIGNS' || state !== 'IDLE');
  const names = new Map(channels.map(({ id, name }) => [id, name]));
  // A channel that never sent has no lane yet.
  const unused = channels
    .filter(({ id }) => !lanes.some(({ queue, subjectId }) => queue === 'OUTBOX' && subjectId === id))
    .map(
      ({ id }): Lane => ({
        queue: 'OUTBOX',
        subjectId: id,
        state: 'IDLE',
        waitingCount: 0,
        oldestAt: null,
        restsUntil: null,
        error: null,
      }),
    );
  return (
    <>
      <section className="card">
        <h2>{t('live.channels')}</h2>
        {data && channels.length === 0 && <p className="muted">{t('live.noChannels')}</p>}
        {channels.map(channel => (
          <ChannelHealth key={channel.id} channel={channel} />
        ))}
      </section>
      <section className="card live-wide">
        <h2>{t('live.queues')}</h2>
        <TableBox label={t('live.queues')} className="plain">
          <table>
            <thead>
              <tr>
                <th>{t('live.queue')}</th>
                <th className="number">{t('live.waitingCount')}</th>
                <th>{t('live.oldest')}</th>
                <th>{t('live.state')}</th>
              </tr>
            </thead>
            <tbody>
              {[...lanes, ...unused].map(lane => (
                <LaneRow
                  key={`${lane.queue} ${lane.subjectId}`}
                  lane={lane}
                  name={lane.subjectId === null ? undefined : names.get(lane.subjectId)}
                />
              ))}
            </tbody>
          </table>
        </TableBox>
      </section>
    </>
  );
}

function LaneRow({ lane, name }: { readonly lane: Lane; readonly name: string | undefined }) {
  const { t, language } = useTexts();
  const dates = useDates();
  const now = useNow(5_000);
  const { queue, state, waitingCount, oldestAt, restsUntil, error } = lane;
  return (
    <tr>
      <td>
        {t(`queue.${queue}`)} {name !== undefined && <span className="muted small">{name}</span>}
      </td>
      <td className="number">{waitingCount.toLocaleString(language)}</td>
      <td className="muted">{oldestAt === null ? '' : dates.span(Math.max(0, now - Date.parse(oldestAt)))}</td>
      <td>
        <span className={`chip ${TONES[state]}`}>{t(`laneState.${state}`)}</span>{' '}
        {restsUntil !== null && (
          <span className="muted small">{t('live.until', { time: dates.exact(restsUntil) })}</span>
        )}
        {error !== null && <p className="muted small">{error}</p>}
      </td>
    </tr>
  );
}

function ChannelHealth({ channel }: { readonly channel: Channel }) {
  const { t, language } = useTexts();
  const dates = useDates();
  const { name, displayPhoneNumber, status, health } = channel;
  return (
    <div className="channel-health">
      <p>
        <strong>{name}</strong> <bdi className="muted small">{displayPhoneNumber}</bdi>
      </p>
      <p className="tags">
        <span className={`chip ${status === 'ACTIVE' ? 'good' : 'warning'}`}>{t(`channelStatus.${status}`)}</span>
        {health && (
          <>
            <span className={`chip ${AVAILABILITY_TONES[health.canSend]}`}>{t(`availability.${health.canSend}`)}</span>
            <span className={`chip ${QUALITY_TONES[health.quality]}`}>
              {t('channels.quality')}: {t(`quality.${health.quality}`)}
            </span>
            <span className="chip">
              {t('channels.limit')}:{' '}
              {health.isMessagingLimitKnown
                ? (health.messagingLimit?.toLocaleString(language) ?? t('unlimited'))
                : t('quality.UNKNOWN')}
            </span>
          </>
        )}
      </p>
      {health?.restrictions.map(({ type, expiresAt }) => (
        <p key={type} className="small tone-failed">
          <code>{type}</code> {expiresAt !== null && t('live.until', { time: dates.full(expiresAt) })}
        </p>
      ))}
      {health?.lastError && <p className="small tone-failed">{health.lastError.title}</p>}
    </div>
  );
}
