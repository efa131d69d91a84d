import { useMemo } from 'react';
import { LiveCostsDocument } from '../documents.generated.ts';
import { useTexts } from '../texts/texts.tsx';
import { useNow } from '../ui/now.ts';
import { usePolling } from './use-polling.ts';

/** Cost of this month's messages, by the price table of the deployment. */
export function CostCard() {
  const { t, language } = useTexts();
  const now = new Date(useNow(60_000));
  const month = now.getFullYear() * 12 + now.getMonth();
  const variables = useMemo(() => ({ since: new Date(Math.floor(month / 12), month % 12, 1).toISOString() }), [month]);
  const data = usePolling(LiveCostsDocument, variables);
  const report = data?.costReport;
  const amount = ({ amount: value, currency }: { amount: string; currency: string }): string =>
    new Intl.NumberFormat(language, { style: 'currency', currency }).format(Number(value));
  return (
    <section className="card">
      <h2>{t('live.cost')}</h2>
      {report && (
        <>
          <p className="figure">{report.cost?.map(amount).join(' + ') || '–'}</p>
          {report.cost === null && <p className="muted">{t('live.noPrices')}</p>}
          {report.cost !== null && report.total === 0 && <p className="muted">{t('live.noCosts')}</p>}
          {report.unpricedCount > 0 && <p className="muted">{t('live.unpriced', { count: report.unpricedCount })}</p>}
          <ul className="facts">
            {report.series.map(({ category, count, cost }) => (
              <li key={String(category)}>
                <span>
                  {category === null ? t('category.OTHER') : t(`price.${category}`)}{' '}
                  <span className="muted small">{count.toLocaleString(language)}</span>
                </span>
                <span className="number">{cost?.map(amount).join(' + ')}</span>
              </li>
            ))}
          </ul>
        </>
      )}
    </section>
  );
}
