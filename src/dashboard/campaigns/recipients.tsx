import { useEffect, useState } from 'react';
import { useQuery } from 'urql';
import { Link } from 'wouter';
import { ExportForm } from '../contacts/export-dialog.tsx';
import {
  type CampaignItemFragment,
  type CampaignRecipientFilter,
  type CampaignRecipientState,
  CampaignRecipientsDocument,
} from '../documents.generated.ts';
import { useAccount } from '../session/account.tsx';
import { useDates } from '../texts/dates.ts';
import { useTexts } from '../texts/texts.tsx';
import { Icon } from '../ui/icon.tsx';
import { TableBox } from '../ui/table-box.tsx';
import { UserErrors } from '../ui/user-errors.tsx';

const PAGE = 50;
/** While messages are sent, the list is read again this often. */
const RELOAD_MS = 5_000;
const STATES = ['PENDING', 'WAITING', 'QUEUED', 'SENT', 'DELIVERED', 'READ', 'FAILED', 'SKIPPED', 'CANCELLED'] as const;
const TONES: Readonly<Partial<Record<CampaignRecipientState, string>>> = {
  DELIVERED: 'good',
  READ: 'read',
  FAILED: 'danger',
  WAITING: 'warning',
};

/** Recipients of a campaign, with state and reason of failure or skip. */
export function Recipients({ campaign }: { readonly campaign: CampaignItemFragment }) {
  const { t, language } = useTexts();
  const dates = useDates();
  const [state, setState] = useState<CampaignRecipientState>();
  const [page, setPage] = useState(0);
  const [isExporting, setExporting] = useState(false);
  const { can } = useAccount();
  const filter: CampaignRecipientFilter | undefined = state && { state: { eq: state } };
  const variables = { id: campaign.id, first: PAGE, ...(page > 0 && { offset: page * PAGE }), filter };
  const [{ data, error, fetching }, refetch] = useQuery({
    query: CampaignRecipientsDocument,
    variables,
    requestPolicy: 'cache-and-network',
  });
  const { status, progress } = campaign;
  const moment = `${status} ${progress.total}`;
  useEffect(() => {
    if (moment) refetch({ requestPolicy: 'network-only' });
    if (status !== 'RUNNING') return;
    const timer = setInterval(() => refetch({ requestPolicy: 'network-only' }), RELOAD_MS);
    return () => clearInterval(timer);
  }, [moment, status, refetch]);
  const { nodes = [], totalCount = 0 } = data?.campaign?.recipients ?? {};
  const last = Math.min(totalCount, (page + 1) * PAGE);
  return (
    <section className="recipients" aria-labelledby="recipients-title">
      <header className="section-head">
        <h2 id="recipients-title">{t('campaigns.recipientList')}</h2>
        <div className="toolbar">
          <select
            aria-label={t('campaigns.state')}
            value={state ?? ''}
            onChange={event => {
              setPage(0);
              setState(STATES.find(each => each === event.target.value));
            }}
          >
            <option value="">{t('campaigns.anyState')}</option>
            {STATES.map(each => (
              <option key={each} value={each}>
                {t(`recipient.${each}`)}
              </option>
            ))}
          </select>
          {can('CONTACTS_EXPORT', 'CONTACTS_READ') && (
            <button type="button" className="button" onClick={() => setExporting(true)}>
              <Icon name="download" size={17} /> {t('export.open')}
            </button>
          )}
          <button
            type="button"
            className="button"
            disabled={fetching}
            onClick={() => refetch({ requestPolicy: 'network-only' })}
          >
            <Icon name="replay" size={17} /> {t('reload')}
          </button>
        </div>
      </header>
      <UserErrors failure={error} />
      {isExporting && (
        <ExportForm
          title={t('campaigns.export')}
          text={t('campaigns.exportText', { count: totalCount })}
          resource={{ campaignRecipients: { campaignId: campaign.id, ...(filter && { filter }) } }}
          onClose={() => setExporting(false)}
        />
      )}
      {nodes.length === 0 ? (
        <p className="muted">{fetching ? '…' : t('campaigns.noRecipient')}</p>
      ) : (
        <>
          <TableBox label={t('campaigns.recipientList')}>
            <table>
              <thead>
                <tr>
                  <th>{t('details.contact')}</th>
                  <th className="only-wide">{t('field.phone')}</th>
                  <th>{t('campaigns.state')}</th>
                  <th>{t('campaigns.detail')}</th>
                </tr>
              </thead>
              <tbody>
                {nodes.map((row, index) => (
                  <tr key={row.contact?.id ?? `gone ${page} ${index}`}>
                    <td>
                      {row.contact ? (
                        <Link href={`/contacts/${row.contact.databaseId}`} className="row-link">
                          {row.contact.displayName}
                        </Link>
                      ) : (
                        <span className="muted">{t('campaigns.contactGone')}</span>
                      )}
                    </td>
                    <td className="only-wide">
                      <bdi>{row.contact?.phone}</bdi>
                    </td>
                    <td>
                      <span className={`chip ${TONES[row.state] ?? ''}`}>{t(`recipient.${row.state}`)}</span>
                    </td>
                    <td className="small">
                      {row.skipReason && t(`skip.${row.skipReason}`)}
                      {row.errorCode !== null && (
                        <span className="tone-failed">
                          {row.errorTitle ?? t('failure.code', { code: String(row.errorCode) })}
                        </span>
                      )}
                      {row.dueAt && t('campaigns.dueAt', { time: dates.full(row.dueAt) })}
                      {row.repliedAt && t('campaigns.repliedAt', { time: dates.full(row.repliedAt) })}
                      {row.hasOptedOut && <span className="tone-failed"> {t('campaigns.optedOut')}</span>}
                    </td>
                  </tr>
                ))}
              </tbody>
            </table>
          </TableBox>
          {totalCount > PAGE && (
            <nav className="pager" aria-label={t('pager.label')}>
              <span className="muted small">
                {t('pager.range', { from: page * PAGE + 1, to: last, total: totalCount.toLocaleString(language) })}
              </span>
              <button type="button" className="button small" disabled={page === 0} onClick={() => setPage(page - 1)}>
                {t('pager.previous')}
              </button>
              <button
                type="button"
                className="button small"
                disabled={last >= totalCount}
                onClick={() => setPage(page + 1)}
              >
                {t('pager.next')}
              </button>
            </nav>
          )}
        </>
      )}
    </section>
  );
}
