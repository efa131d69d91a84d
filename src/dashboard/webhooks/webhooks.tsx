import { useState } from 'react';
import { useMutation, useQuery } from 'urql';
import {
  DeleteWebhookEndpointDocument,
  TestWebhookEndpointDocument,
  UpdateWebhookEndpointDocument,
  WebhookEndpointsDocument,
} from '../documents.generated.ts';
import { useAccount } from '../session/account.tsx';
import { useTexts } from '../texts/texts.tsx';
import { ConfirmButton } from '../ui/confirm-button.tsx';
import { Empty } from '../ui/empty.tsx';
import { Icon } from '../ui/icon.tsx';
import { Page } from '../ui/page.tsx';
import { UserErrors } from '../ui/user-errors.tsx';
import { Deliveries } from './deliveries.tsx';
import { NewEndpoint } from './new-endpoint.tsx';

/** The endpoints to which events are delivered, and the deliveries. */
export default function Webhooks() {
  const { t } = useTexts();
  const { can } = useAccount();
  const [{ data, fetching }, refetch] = useQuery({
    query: WebhookEndpointsDocument,
    requestPolicy: 'cache-and-network',
  });
  const [updated, update] = useMutation(UpdateWebhookEndpointDocument);
  const [removed, remove] = useMutation(DeleteWebhookEndpointDocument);
  const [tested, test] = useMutation(TestWebhookEndpointDocument);
  const [isNew, setNew] = useState(false);
  const [round, setRound] = useState(0);
  const reload = (): void => refetch({ requestPolicy: 'network-only' });
  const endpoints = data?.webhookEndpoints?.nodes ?? [];
  const mayWrite = can('WEBHOOKS_WRITE');
  return (
    <Page
      title={t('nav.webhooks')}
      lead={t('webhooks.lead')}
      actions={
        mayWrite && (
          <button type="button" className="button primary" onClick={() => setNew(true)}>
            <Icon name="plus" size={17} /> {t('webhooks.new')}
          </button>
        )
      }
    >
      <UserErrors
        errors={[
          ...(updated.data?.updateWebhookEndpoint?.userErrors ?? []),
          ...(removed.data?.deleteWebhookEndpoint?.userErrors ?? []),
          ...(tested.data?.testWebhookEndpoint?.userErrors ?? []),
        ]}
        failure={updated.error ?? removed.error ?? tested.error}
      />
      {endpoints.length === 0 && !fetching && (
        <Empty title={t('webhooks.noneTitle')} text={t('webhooks.none')} example="webhook" />
      )}
      <ul className="cards-grid wide">
        {endpoints.map(({ id, url, description, events, isEnabled, disabledReason, failingSince, format }) => (
          <li key={id} className="card endpoint">
            <header>
              <div className="template-name">
                <h2 className="address">
                  <bdi>{url}</bdi>
                </h2>
                <p className="muted small">
                  {description === null ? t(`webhookFormat.${format}`) : <bdi>{description}</bdi>} ·{' '}
                  <code>
                    <bdi>{events.join(', ')}</bdi>
                  </code>
                </p>
              </div>
              <span className={isEnabled ? (failingSince ? 'chip warning' : 'chip good') : 'chip danger'}>
                {isEnabled
                  ? failingSince
                    ? t('webhooks.failing')
                    : t('webhooks.enabled')
                  : t(`disabled.${disabledReason ?? 'BY_HAND'}`)}
              </span>
            </header>
            {mayWrite && (
              <div className="page-actions">
                <button
                  type="button"
                  className="button small"
                  onClick={() => void test({ input: { id } }).then(() => setRound(before => before + 1))}
                >
                  {t('webhooks.test')}
                </button>
                <button
                  type="button"
                  className="button small"
                  onClick={() => void update({ input: { id, isEnabled: !isEnabled } })}
                >
                  {isEnabled ? t('pause') : t('resume')}
                </button>
                <ConfirmButton
                  className="button small"
                  question={t('webhooks.deleteTitle')}
                  consequence={t('webhooks.deleteText', { url })}
                  action={t('delete')}
                  onConfirm={() => remove({ input: { id } }).then(reload)}
                >
                  {t('delete')}
                </ConfirmButton>
              </div>
            )}
          </li>
        ))}
      </ul>
      {endpoints.length > 0 && <Deliveries key={round} />}
      {isNew && (
        <NewEndpoint
          onClose={() => {
            setNew(false);
            reload();
          }}
        />
      )}
    </Page>
  );
}
