import { useEffect, useState } from 'react';
import { useQuery } from 'urql';
import { Link, Route, Switch, useSearchParams } from 'wouter';
import { type CampaignStatus, CampaignsDocument, type CampaignsQuery } from '../documents.generated.ts';
import { useAccount } from '../session/account.tsx';
import { useDates } from '../texts/dates.ts';
import { useTexts } from '../texts/texts.tsx';
import { Empty } from '../ui/empty.tsx';
import { Icon } from '../ui/icon.tsx';
import { Page } from '../ui/page.tsx';
import { Progress } from '../ui/progress.tsx';
import { UserErrors } from '../ui/user-errors.tsx';
import '../styles/campaigns.css';
import { TableBox } from '../ui/table-box.tsx';
import { CampaignEditor } from './campaign-editor.tsx';
import { CampaignPage } from './campaign-page.tsx';
import { StatusChip, settledOf, stopReason } from './campaign-status.tsx';

const STATUSES = ['DRAFT', 'SCHEDULED', 'RUNNING', 'PAUSED', 'COMPLETED', 'CANCELLED', 'FAILED'] as const;

/** Scopes that writing a campaign requires. */
const WRITING = ['CAMPAIGNS_WRITE', 'MESSAGES_SEND', 'CONTACTS_READ'] as const;

/** Campaigns: the list, one of them, and the form of a new or changed one. */
export default function Campaigns() {
  const { can } = useAccount();
  const mayWrite = can(...WRITING);
  return (
    <Switch>
      <Route path="/campaigns" component={CampaignList} />
      <Route path="/campaigns/new">{mayWrite ? <CampaignEditor id={undefined} /> : <NoPermission />}</Route>
      <Route path="/campaigns/:id/edit">
        {({ id }) => (mayWrite ? <CampaignEditor key={id} id={id} /> : <NoPermission />)}
      </Route>
      <Route path="/campaigns/:id">{({ id }) => <CampaignPage key={id} id={id} />}</Route>
    </Switch>
  );
}

function NoPermission() {
  const { t } = useTexts();
  return (
    <Page title={t('nav.campaigns')}>
      <Empty title={t('noPermissionTitle')} text={t('noPermission')} />
    </Page>
  );
}

function CampaignList() {
  const { t } = useTexts();
  const { can } = useAccount();
  const [params, setParams] = useSearchParams();
  const status = STATUSES.find(each => each === params.get('status')?.toUpperCase());
  const [after, setAfter] = useState<string>();
  const filter = status ? { status: { eq: status satisfies CampaignStatus } } : undefined;
  const [{ data, fetching, error }, refetch] = useQuery({
    query: CampaignsDocument,
    variables: { after, filter },
    requestPolicy: 'cache-and-network',
  });
  const campaigns = data?.campaigns?.nodes ?? [];
  const { hasNextPage, endCursor } = data?.campaigns?.pageInfo ?? {};
  const isMoving = campaigns.some(each => each.status === 'RUNNING' || each.status === 'SCHEDULED');
  useEffect(() => {
    if (!isMoving) return;
    const timer = setInterval(() => refetch({ requestPolicy: 'network-only' }), 5_000);
    return () => clearInterval(timer);
  }, [isMoving, refetch]);
  const create = can(...WRITING) && (
    <Link href="/campaigns/new" className="button primary">
      <Icon name="plus" size={17} /> {t('campaigns.new')}
    </Link>
  );
  const isEmpty = campaigns.length === 0 && !fetching;
  return (
    <Page title={t('nav.campaigns')} lead={t('campaigns.lead')} actions={create}>
      {(!isEmpty || status) && (
        <div className="toolbar">
          <select
            aria-label={t('filter.status')}
            value={status ?? ''}
            onChange={event => {
              setAfter(undefined);
              setParams(event.target.value === '' ? {} : { status: event.target.value.toLowerCase() });
            }}
          >
            <option value="">{t('campaigns.anyStatus')}</option>
            {STATUSES.map(each => (
              <option key={each} value={each}>
                {t(`campaignStatus.${each}`)}
              </option>
            ))}
          </select>
        </div>
      )}
      <UserErrors failure={error} />
      {isEmpty && status && <Empty title={t('campaigns.noMatch')} />}
      {isEmpty && !status && (
        <Empty title={t('campaigns.noneTitle')} text={t('campaigns.none')} action={create} example="campaign" />
      )}
      {campaigns.length > 0 && <CampaignTable campaigns={campaigns} />}
      {hasNextPage && endCursor && (
        <button type="button" className="button" disabled={fetching} onClick={() => setAfter(endCursor)}>
          {t('more')}
        </button>
      )}
    </Page>
  );
}

type Row = NonNullable<CampaignsQuery['campaigns']>['nodes'][number];

function CampaignTable({ campaigns }: { readonly campaigns: readonly Row[] }) {
  const { t, language } = useTexts();
  const dates = useDates();
  return (
    <TableBox label={t('nav.campaigns')}>
      <table className="campaign-table">
        <thead>
          <tr>
            <th>{t('name')}</th>
            <th>{t('filter.status')}</th>
            <th>{t('campaigns.progress')}</th>
            <th className="number">{t('campaigns.recipients')}</th>
            <th className="number">{t('campaigns.read')}</th>
            <th className="number">{t('campaigns.failed')}</th>
            <th className="only-wide">{t('campaigns.when')}</th>
          </tr>
        </thead>
        <tbody>
          {campaigns.map(campaign => {
            const { id, databaseId, name, status, content, progress, startedAt, scheduledAt, createdAt } = campaign;
            return (
              <tr key={id}>
                <td>
                  <Link href={`/campaigns/${databaseId}`} className="row-link">
                    {name}
                  </Link>
                  <span className="muted small cell-note">
                    {content.__typename === 'TemplateContent' && content.templateName}
                  </span>
                </td>
                <td>
                  <StatusChip status={status} />
                  {stopReason(campaign) && <span className="muted small cell-note">{stopReason(campaign)}</span>}
                </td>
                <td>
                  {progress.total > 0 ? (
                    <Progress
                      label={t('campaigns.progressOf', { name })}
                      value={settledOf(campaign)}
                      max={progress.total}
                    />
                  ) : (
                    <span className="muted">–</span>
                  )}
                </td>
                <td className="number">{progress.total > 0 ? progress.total.toLocaleString(language) : '–'}</td>
                <td className="number">{progress.total > 0 ? progress.read.toLocaleString(language) : '–'}</td>
                <td className={progress.failed > 0 ? 'number tone-failed' : 'number'}>
                  {progress.total > 0 ? progress.failed.toLocaleString(language) : '–'}
                </td>
                <td className="only-wide muted small">{dates.full(startedAt ?? scheduledAt ?? createdAt)}</td>
              </tr>
            );
          })}
        </tbody>
      </table>
    </TableBox>
  );
}
