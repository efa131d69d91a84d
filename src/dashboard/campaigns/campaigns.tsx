import { useMutation, useQuery } from 'urql';
import {
  type CampaignStatus,
  CampaignsDocument,
  CancelCampaignDocument,
  PauseCampaignDocument,
  ResumeCampaignDocument,
  StartCampaignDocument,
} from '../documents.generated.ts';
import { useAccount } from '../session/account.tsx';
import { useDates } from '../texts/dates.ts';
import { useTexts } from '../texts/texts.tsx';
import { Example } from '../ui/example.tsx';
import { Page } from '../ui/page.tsx';
import { UserErrors } from '../ui/user-errors.tsx';

const TONES: Readonly<Record<CampaignStatus, string>> = {
  DRAFT: '',
  SCHEDULED: 'info',
  RUNNING: 'good',
  PAUSED: 'warning',
  COMPLETED: 'good',
  CANCELLED: '',
  FAILED: 'danger',
};

/** Campaigns, and what can be done with each. */
export default function Campaigns() {
  const { t } = useTexts();
  const { can } = useAccount();
  const dates = useDates();
  const [{ data, fetching }] = useQuery({ query: CampaignsDocument, requestPolicy: 'cache-and-network' });
  const [started, start] = useMutation(StartCampaignDocument);
  const [paused, pause] = useMutation(PauseCampaignDocument);
  const [resumed, resume] = useMutation(ResumeCampaignDocument);
  const [cancelled, cancel] = useMutation(CancelCampaignDocument);
  const campaigns = data?.campaigns?.nodes ?? [];
  return (
    <Page title={t('nav.campaigns')} lead={t('campaigns.lead')}>
      <UserErrors
        errors={[
          ...(started.data?.startCampaign?.userErrors ?? []),
          ...(paused.data?.pauseCampaign?.userErrors ?? []),
          ...(resumed.data?.resumeCampaign?.userErrors ?? []),
          ...(cancelled.data?.cancelCampaign?.userErrors ?? []),
        ]}
        failure={started.error ?? paused.error ?? resumed.error ?? cancelled.error}
      />
      {campaigns.length === 0 && !fetching ? (
        <div className="empty">
          <p>{t('campaigns.none')}</p>
          <Example text={CREATE} />
        </div>
      ) : (
        <div className="table-box">
          <table>
            <thead>
              <tr>
                <th>{t('name')}</th>
                <th>{t('filter.status')}</th>
                <th>{t('campaigns.audience')}</th>
                <th>{t('campaigns.content')}</th>
                <th>{t('campaigns.started')}</th>
                <th>
                  <span className="visually-hidden">{t('actions')}</span>
                </th>
              </tr>
            </thead>
            <tbody>
              {campaigns.map(
                ({ id, name, status, statusReason, audience, content, startedAt, scheduledAt, createdBy }) => (
                  <tr key={id}>
                    <td>
                      <strong>{name}</strong> <span className="muted small">{createdBy.displayName}</span>
                    </td>
                    <td>
                      <span className={`chip ${TONES[status]}`} title={statusReason ?? undefined}>
                        {t(`campaignStatus.${status}`)}
                      </span>
                    </td>
                    <td>
                      {audience.contactCount ?? ''}{' '}
                      <span className="muted small">{audience.groups?.map(group => group.name).join(', ')}</span>
                    </td>
                    <td>
                      {content.__typename === 'TemplateContent' ? (
                        <code>{content.templateName}</code>
                      ) : (
                        t('message.theirText')
                      )}
                    </td>
                    <td className="muted small">
                      {startedAt ? dates.full(startedAt) : scheduledAt ? dates.full(scheduledAt) : '–'}
                    </td>
                    <td className="cell-actions">
                      {can('CAMPAIGNS_WRITE') && (
                        <>
                          {status === 'DRAFT' && (
                            <button
                              type="button"
                              className="button small primary"
                              onClick={() => void start({ input: { id } })}
                            >
                              {t('campaigns.start')}
                            </button>
                          )}
                          {status === 'RUNNING' && (
                            <button
                              type="button"
                              className="button small"
                              onClick={() => void pause({ input: { id } })}
                            >
                              {t('pause')}
                            </button>
                          )}
                          {status === 'PAUSED' && (
                            <button
                              type="button"
                              className="button small"
                              onClick={() => void resume({ input: { id } })}
                            >
                              {t('resume')}
                            </button>
                          )}
                          {['RUNNING', 'PAUSED', 'SCHEDULED'].includes(status) && (
                            <button
                              type="button"
                              className="button small"
                              onClick={() => void cancel({ input: { id } })}
                            >
                              {t('cancel')}
                            </button>
                          )}
                        </>
                      )}
                    </td>
                  </tr>
                ),
              )}
            </tbody>
          </table>
        </div>
      )}
    </Page>
  );
}

/** In GraphiQL, for a group of the account. */
const CREATE = `mutation {
  createCampaign(input: {
    name: "Spring news"
    audience: { groupIds: ["…"] }
    content: { template: { name: "hello_world", language: "en_US" } }
  }) { campaign { id } userErrors { message path } }
}`;
