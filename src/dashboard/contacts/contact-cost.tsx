import { useMemo } from 'react';
import { useQuery } from 'urql';
import { ContactCostDocument } from '../documents.generated.ts';
import { useAccount } from '../session/account.tsx';
import { moneyText } from '../texts/money.ts';
import { useTexts } from '../texts/texts.tsx';
import { presentTime } from '../ui/now.ts';

const YEAR_MS = 365 * 24 * 60 * 60_000;

/** Messages to and from a contact in the last year, and what they cost. */
export function ContactCost({ contactId }: { readonly contactId: string }) {
  const { t, language } = useTexts();
  const { can } = useAccount();
  // The start of a day, so that the query and its cached answer stay the same when the card is opened again.
  const since = useMemo(() => `${new Date(presentTime() - YEAR_MS).toISOString().slice(0, 10)}T00:00:00.000Z`, []);
  const [{ data }] = useQuery({
    query: ContactCostDocument,
    variables: { contactId, since, withCost: can('COSTS_READ') },
    pause: !can('MESSAGES_READ'),
    requestPolicy: 'cache-and-network',
  });
  const statistics = data?.messageStatistics;
  if (!statistics) return null;
  const count = (direction: string): number =>
    statistics.series.filter(point => point.direction === direction).reduce((sum, point) => sum + point.count, 0);
  return (
    <section>
      <h3>{t('contacts.lastYear')}</h3>
      <dl className="pairs">
        <div>
          <dt>{t('contacts.sentTo')}</dt>
          <dd>{count('OUTBOUND').toLocaleString(language)}</dd>
        </div>
        <div>
          <dt>{t('contacts.receivedFrom')}</dt>
          <dd>{count('INBOUND').toLocaleString(language)}</dd>
        </div>
        {can('COSTS_READ') && (
          <div>
            <dt>{t('contacts.cost')}</dt>
            <dd>{statistics.cost?.length ? moneyText(statistics.cost, language) : t('contacts.noCost')}</dd>
          </div>
        )}
      </dl>
    </section>
  );
}
