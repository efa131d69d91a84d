import { useState } from 'react';
import { useMutation, useQuery } from 'urql';
import {
  DeleteShopDocument,
  DeleteShopMappingDocument,
  type ShopFragment,
  type ShopMappingFragment,
  ShopsDocument,
  UpdateShopDocument,
} from '../documents.generated.ts';
import { useAccount } from '../session/account.tsx';
import { useDates } from '../texts/dates.ts';
import { useTexts } from '../texts/texts.tsx';
import { ConfirmButton } from '../ui/confirm-button.tsx';
import { Empty } from '../ui/empty.tsx';
import { Icon } from '../ui/icon.tsx';
import { Page } from '../ui/page.tsx';
import { UserErrors } from '../ui/user-errors.tsx';
import { DryRun } from './dry-run.tsx';
import { MappingDialog } from './mapping-dialog.tsx';
import { NewShop } from './new-shop.tsx';

const OUTCOME_TONES = {
  ACTED: 'good',
  DUPLICATE: '',
  FAILED: 'danger',
  IGNORED: '',
  REFUSED: 'warning',
  WAITING: 'info',
} as const;

/** Shops that post their orders, which messages they send, and what they would do with an order. */
export default function Shops() {
  const { t } = useTexts();
  const { can } = useAccount();
  const [{ data, fetching }, refetch] = useQuery({ query: ShopsDocument, requestPolicy: 'cache-and-network' });
  const [isNew, setNew] = useState(false);
  const shops = data?.integrations?.nodes ?? [];
  const reload = (): void => refetch({ requestPolicy: 'network-only' });
  return (
    <Page
      title={t('nav.shops')}
      lead={t('shops.lead')}
      actions={
        can('INTEGRATIONS_WRITE') && (
          <button type="button" className="button primary" onClick={() => setNew(true)}>
            <Icon name="plus" size={17} /> {t('shops.new')}
          </button>
        )
      }
    >
      {shops.length === 0 && !fetching && <Empty title={t('shops.noneTitle')} text={t('shops.none')} example="shop" />}
      {shops.map(shop => (
        <ShopCard key={shop.id} shop={shop} onChange={reload} />
      ))}
      {isNew && (
        <NewShop
          onClose={() => {
            setNew(false);
            reload();
          }}
        />
      )}
    </Page>
  );
}

function ShopCard({ shop, onChange }: { readonly shop: ShopFragment; readonly onChange: () => void }) {
  const { t } = useTexts();
  const { can } = useAccount();
  const dates = useDates();
  const [updated, update] = useMutation(UpdateShopDocument);
  const [removed, remove] = useMutation(DeleteShopMappingDocument);
  const [closed, close] = useMutation(DeleteShopDocument);
  const [edited, setEdited] = useState<ShopMappingFragment | 'new'>();
  const [isTrying, setTrying] = useState(false);
  const { id, name, kind, isEnabled, path, mappings, deliveries } = shop;
  const mayWrite = can('INTEGRATIONS_WRITE');
  return (
    <section className="card shop" aria-label={name}>
      <header className="page-head">
        <div>
          <h2>
            <bdi>{name}</bdi> <span className="chip">{t(`shopKind.${kind}`)}</span>
          </h2>
          <p className="muted small">
            {t('shops.address')} <code>{location.origin + path}</code>
          </p>
        </div>
        <div className="page-actions">
          <label className="toggle">
            <input
              type="checkbox"
              className="switch"
              checked={isEnabled}
              disabled={!mayWrite}
              onChange={event => void update({ input: { id, isEnabled: event.target.checked } })}
            />
            {t('shops.enabled')}
          </label>
          <button type="button" className="button small" onClick={() => setTrying(true)}>
            <Icon name="play" size={15} /> {t('shops.try')}
          </button>
          {mayWrite && (
            <button type="button" className="button small" onClick={() => setEdited('new')}>
              <Icon name="plus" size={15} /> {t('shops.newMapping')}
            </button>
          )}
          {mayWrite && (
            <ConfirmButton
              className="icon-button"
              label={t('deleteOf', { name })}
              question={t('deleteTitle', { name })}
              consequence={t('shops.deleteText')}
              action={t('delete')}
              onConfirm={() => close({ input: { id } }).then(onChange)}
            >
              <Icon name="trash" size={17} />
            </ConfirmButton>
          )}
        </div>
      </header>
      <UserErrors
        errors={[
          ...(updated.data?.updateIntegration?.userErrors ?? []),
          ...(removed.data?.deleteIntegrationMapping?.userErrors ?? []),
          ...(closed.data?.deleteIntegration?.userErrors ?? []),
        ]}
        failure={updated.error ?? removed.error ?? closed.error}
      />
      {mappings.length === 0 ? (
        <p className="muted">{t('shops.noMappings')}</p>
      ) : (
        <ul className="facts">
          {mappings.map(mapping => (
            <li key={mapping.id}>
              <span>
                <strong>
                  <bdi>{mapping.name}</bdi>
                </strong>{' '}
                <span className="muted small">
                  <bdi>{mapping.statuses.length > 0 ? mapping.statuses.join(', ') : t('shops.anyStatus')}</bdi>{' '}
                  <Icon name="arrow" size={14} />{' '}
                  {mapping.template ? <bdi>{mapping.template.name}</bdi> : t('shops.noTemplate')}
                </span>{' '}
                {!mapping.isEnabled && <span className="chip warning">{t('shops.off')}</span>}
              </span>
              {mayWrite && (
                <span>
                  <button
                    type="button"
                    className="icon-button small"
                    aria-label={t('edit', { name: mapping.name })}
                    onClick={() => setEdited(mapping)}
                  >
                    <Icon name="edit" size={16} />
                  </button>
                  <ConfirmButton
                    className="icon-button small"
                    label={t('deleteOf', { name: mapping.name })}
                    question={t('deleteTitle', { name: mapping.name })}
                    consequence={t('shops.deleteMappingText')}
                    action={t('delete')}
                    onConfirm={() => remove({ input: { id: mapping.id } }).then(onChange)}
                  >
                    <Icon name="trash" size={16} />
                  </ConfirmButton>
                </span>
              )}
            </li>
          ))}
        </ul>
      )}
      <h3>{t('shops.orders')}</h3>
      {deliveries && deliveries.nodes.length > 0 ? (
        <ul className="facts">
          {deliveries.nodes.map(({ id: key, outcome, orderId, orderStatus, receivedAt, topic }) => (
            <li key={key}>
              <span>
                {orderId ? t('shops.order', { id: orderId }) : <code>{topic}</code>}{' '}
                <span className="muted small">
                  <bdi>{orderStatus}</bdi> · <bdi>{dates.full(receivedAt)}</bdi>
                </span>
              </span>
              <span className={`chip ${OUTCOME_TONES[outcome]}`}>{t(`shopOutcome.${outcome}`)}</span>
            </li>
          ))}
        </ul>
      ) : (
        <p className="muted">{t('shops.noOrders')}</p>
      )}
      {isTrying && <DryRun shop={shop} onClose={() => setTrying(false)} />}
      {edited && (
        <MappingDialog
          shop={shop}
          mapping={edited === 'new' ? undefined : edited}
          onClose={() => {
            setEdited(undefined);
            onChange();
          }}
        />
      )}
    </section>
  );
}
