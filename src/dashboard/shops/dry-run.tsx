import { type FormEvent, useState } from 'react';
import { useClient } from 'urql';
import { DryRunShopDocument, type DryRunShopQuery, type ShopFragment } from '../documents.generated.ts';
import { WhatsAppText } from '../inbox/whatsapp-text.tsx';
import { useDates } from '../texts/dates.ts';
import { useTexts } from '../texts/texts.tsx';
import { Dialog } from '../ui/dialog.tsx';
import { Field } from '../ui/field.tsx';
import { failureTexts } from '../ui/user-errors.tsx';

type Result = NonNullable<DryRunShopQuery['dryRunIntegration']>;

const TONES = { ACTS: 'good', DONE: 'info', NOT_MEANT: '', REFUSES: 'danger' } as const;
/** The topic of a new order, because a mapping applies to some topics only. */
const TOPICS = { WOOCOMMERCE: 'order.created', SHOPIFY: 'orders/create', GENERIC: undefined } as const;
/** An order as WooCommerce posts it. */
const SAMPLE = JSON.stringify(
  {
    id: 4711,
    number: '4711',
    status: 'processing',
    currency: 'EUR',
    total: '49.90',
    billing: { first_name: 'Ana', last_name: 'Silva', phone: '+351912345678', email: 'ana@example.com', country: 'PT' },
    line_items: [{ name: 'Blue mug', quantity: 2 }],
  },
  null,
  2,
);

/** Dry run of a shop's mappings on a received order or any payload. Nothing is sent. */
export function DryRun({ shop, onClose }: { readonly shop: ShopFragment; readonly onClose: () => void }) {
  const { t } = useTexts();
  const dates = useDates();
  const graphql = useClient();
  const orders = shop.deliveries?.nodes ?? [];
  const [delivery, setDelivery] = useState(orders[0]?.id ?? '');
  const [payload, setPayload] = useState(SAMPLE);
  const [result, setResult] = useState<Result>();
  const [problem, setProblem] = useState<string>();
  const run = async (event: FormEvent): Promise<void> => {
    event.preventDefault();
    setProblem(undefined);
    setResult(undefined);
    try {
      const input =
        delivery === ''
          ? { payload: JSON.parse(payload) as unknown, topic: TOPICS[shop.kind] }
          : { deliveryId: delivery };
      const variables = { integrationId: shop.id, ...input };
      const { data, error } = await graphql
        .query(DryRunShopDocument, variables, { requestPolicy: 'network-only' })
        .toPromise();
      if (data?.dryRunIntegration) setResult(data.dryRunIntegration);
      else setProblem(error && failureTexts(error).join(' '));
    } catch (fault) {
      if (!(fault instanceof SyntaxError)) throw fault;
      setProblem(t('shops.notJson', { fault: fault.message }));
    }
  };
  return (
    <Dialog title={t('shops.tryTitle', { name: shop.name })} onClose={onClose} isWide>
      <form className="form" onSubmit={event => void run(event)}>
        <label className="field">
          <span>{t('shops.with')}</span>
          <select value={delivery} onChange={event => setDelivery(event.target.value)}>
            {orders.map(({ id, orderId, orderStatus, topic, receivedAt }) => (
              <option key={id} value={id}>
                {orderId ? t('shops.order', { id: orderId }) : topic} {orderStatus} · {dates.full(receivedAt)}
              </option>
            ))}
            <option value="">{t('shops.ownPayload')}</option>
          </select>
        </label>
        {delivery === '' && (
          <Field label={t('shops.payload')} value={payload} onChange={setPayload} rows={10} error={problem} />
        )}
        {delivery !== '' && problem !== undefined && <p className="notice danger">{problem}</p>}
        <div className="dialog-foot">
          <button type="submit" className="button primary">
            {t('shops.try')}
          </button>
        </div>
      </form>
      {result && (
        <div className="dry-run" role="status">
          {result.mappings.length === 0 && <p className="muted">{t('shops.noMappings')}</p>}
          {result.mappings.map(({ mapping, outcome, mismatch, phone, text, reasons, parameters }) => (
            <article key={mapping.id} className="card">
              <header className="card-head">
                <strong>{mapping.name}</strong>
                <span className={`chip ${TONES[outcome]}`}>{t(`dryRun.${outcome}`)}</span>
              </header>
              {mismatch && <p className="muted">{t(`mismatch.${mismatch}`)}</p>}
              {phone && (
                <p className="muted small">
                  {t('shops.to')} <bdi>{phone}</bdi>
                </p>
              )}
              {text && (
                <div className="bubble ours">
                  <WhatsAppText text={text} />
                </div>
              )}
              {reasons.map(({ code, message, path }) => (
                <p key={`${code} ${path}`} className="field-error">
                  {message} {path && <code>{path}</code>}
                </p>
              ))}
              {parameters.length > 0 && (
                <ul className="facts small">
                  {parameters.map(({ field, path, value }) => (
                    <li key={field}>
                      <code>{field}</code> <span className="muted">{path}</span> <span>{value}</span>
                    </li>
                  ))}
                </ul>
              )}
            </article>
          ))}
        </div>
      )}
    </Dialog>
  );
}
