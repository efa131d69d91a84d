import { useEffect, useState } from 'react';
import { useMutation, useQuery } from 'urql';
import {
  ReplayWebhookDeliveryDocument,
  WebhookDeliveriesDocument,
  WebhookDeliveryDocument,
  type WebhookDeliveryStatus,
} from '../documents.generated.ts';
import { useAccount } from '../session/account.tsx';
import { useDates } from '../texts/dates.ts';
import { useTexts } from '../texts/texts.tsx';
import { Dialog } from '../ui/dialog.tsx';
import { Icon } from '../ui/icon.tsx';
import { MoreButton } from '../ui/more-button.tsx';
import { SCROLLABLE } from '../ui/scrollable.ts';
import { TableBox } from '../ui/table-box.tsx';
import { usePages } from '../ui/use-pages.ts';
import { UserErrors } from '../ui/user-errors.tsx';

const STATUSES = ['DELIVERED', 'PENDING', 'FAILED'] as const satisfies readonly WebhookDeliveryStatus[];
const TONES = { DELIVERED: 'good', PENDING: 'warning', FAILED: 'danger' } as const;

/** Deliveries, newest first, with what was posted and answered. */
export function Deliveries() {
  const { t } = useTexts();
  const dates = useDates();
  const [status, setStatus] = useState<WebhookDeliveryStatus>();
  const pages = usePages({
    query: WebhookDeliveriesDocument,
    variables: { filter: status ? { status: { eq: status } } : {} },
    pageInfoOf: ({ webhookDeliveries }) => webhookDeliveries?.pageInfo,
  });
  const [openId, setOpenId] = useState<string>();
  const deliveries = pages.data?.webhookDeliveries?.nodes ?? [];
  return (
    <section className="form">
      <header className="page-head">
        <h2>{t('deliveries.title')}</h2>
        <div className="page-actions">
          <fieldset className="tabs" aria-label={t('filter.status')}>
            {[undefined, ...STATUSES].map(each => (
              <button
                key={each ?? 'all'}
                type="button"
                className="tab"
                aria-pressed={status === each}
                onClick={() => setStatus(each)}
              >
                {each ? t(`delivery.${each}`) : t('filter.all')}
              </button>
            ))}
          </fieldset>
          <button type="button" className="icon-button" aria-label={t('reload')} onClick={pages.reload}>
            <Icon name="replay" size={18} />
          </button>
        </div>
      </header>
      {deliveries.length === 0 ? (
        <p className="muted">{t('deliveries.none')}</p>
      ) : (
        <TableBox label={t('deliveries.title')}>
          <table>
            <thead>
              <tr>
                <th>{t('deliveries.event')}</th>
                <th>{t('filter.status')}</th>
                <th className="number">{t('deliveries.answer')}</th>
                <th className="number">{t('deliveries.attempts')}</th>
                <th>{t('deliveries.time')}</th>
              </tr>
            </thead>
            <tbody>
              {deliveries.map(delivery => (
                <tr key={delivery.id}>
                  <td>
                    <button type="button" className="link" onClick={() => setOpenId(delivery.id)}>
                      <code>{delivery.eventType}</code>
                    </button>
                  </td>
                  <td>
                    <span className={`chip ${TONES[delivery.status]}`}>{t(`delivery.${delivery.status}`)}</span>
                  </td>
                  <td className="number">{delivery.responseStatus ?? '–'}</td>
                  <td className="number">{delivery.attemptCount}</td>
                  <td className="muted small">{dates.full(delivery.createdAt)}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </TableBox>
      )}
      <MoreButton pages={pages} />
      <UserErrors failure={pages.error} />
      {openId !== undefined && <DeliveryDialog id={openId} onClose={() => setOpenId(undefined)} />}
    </section>
  );
}

/** How often a delivery that is on its way is read again. */
const POLL_MS = 1_000;

function DeliveryDialog({ id, onClose }: { readonly id: string; readonly onClose: () => void }) {
  const { t } = useTexts();
  const { can } = useAccount();
  const dates = useDates();
  const [{ data }, refetch] = useQuery({
    query: WebhookDeliveryDocument,
    variables: { id },
    requestPolicy: 'cache-and-network',
  });
  const [replayed, replay] = useMutation(ReplayWebhookDeliveryDocument);
  const delivery = data?.webhookDelivery;
  const isPending = delivery?.status === 'PENDING';
  useEffect(() => {
    if (!isPending) return;
    const timer = setInterval(() => refetch({ requestPolicy: 'network-only' }), POLL_MS);
    return () => clearInterval(timer);
  }, [isPending, refetch]);
  return (
    <Dialog title={delivery?.eventType ?? t('deliveries.title')} onClose={onClose} isWide>
      {delivery && (
        <div className="form">
          <ul className="facts">
            {delivery.attempts.map(attempt => (
              <li key={attempt.number}>
                <span>
                  {attempt.number}. {dates.full(attempt.occurredAt)}
                </span>
                <span className={attempt.error === null ? 'chip good' : 'chip danger'}>
                  {attempt.status ?? '–'} · <bdi>{attempt.durationMs} ms</bdi>
                </span>
                <span className="muted small">{attempt.error ?? attempt.response}</span>
              </li>
            ))}
          </ul>
          <h3>{t('deliveries.body')}</h3>
          <pre className="code-block" {...SCROLLABLE}>
            {delivery.requestBody === null ? t('deliveries.noBody') : prettyJson(delivery.requestBody)}
          </pre>
          <UserErrors errors={replayed.data?.replayWebhookDelivery?.userErrors ?? []} failure={replayed.error} />
          {can('WEBHOOKS_WRITE') && (
            <div className="dialog-foot">
              {isPending && replayed.data?.replayWebhookDelivery?.webhookDelivery && (
                <span className="chip good">{t('deliveries.queued')}</span>
              )}
              <button
                type="button"
                className="button primary"
                disabled={replayed.fetching}
                onClick={() => void replay({ input: { id } })}
              >
                <Icon name="replay" size={17} /> {t('deliveries.replay')}
              </button>
            </div>
          )}
        </div>
      )}
    </Dialog>
  );
}

function prettyJson(text: string): string {
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return text;
  }
}
