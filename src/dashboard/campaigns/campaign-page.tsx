import { useEffect, useState } from 'react';
import { useQuery, useSubscription } from 'urql';
import { Link } from 'wouter';
import { CampaignDetailsDocument, CampaignLiveDocument } from '../documents.generated.ts';
import { useDates } from '../texts/dates.ts';
import { useTexts } from '../texts/texts.tsx';
import { Icon } from '../ui/icon.tsx';
import { Page } from '../ui/page.tsx';
import { UserErrors } from '../ui/user-errors.tsx';
import { CampaignActions } from './campaign-actions.tsx';
import { CampaignPreview } from './campaign-preview.tsx';
import { CampaignResults } from './campaign-results.tsx';
import { CampaignSettings } from './campaign-settings.tsx';
import { StatusChip, stopReason } from './campaign-status.tsx';
import { Recipients } from './recipients.tsx';

/** One campaign: before its start the preview of its recipients, then its progress, which a subscription updates. */
export function CampaignPage({ id }: { readonly id: string }) {
  const { t } = useTexts();
  const dates = useDates();
  const [{ data, fetching, error }] = useQuery({
    query: CampaignDetailsDocument,
    variables: { id },
    requestPolicy: 'cache-and-network',
  });
  const campaign = data?.campaign;
  // Updates the cache, and thereby the result of the query above.
  const [live] = useSubscription({ query: CampaignLiveDocument, variables: { id }, pause: !campaign });
  const [title, setTitle] = useState<string>();
  useEffect(() => {
    if (campaign) setTitle(campaign.name);
  }, [campaign]);
  if (!campaign)
    return (
      <Page title={title ?? t('nav.campaigns')}>
        {!fetching && (error ? <UserErrors failure={error} /> : <p className="muted">{t('campaigns.missing')}</p>)}
      </Page>
    );
  const { name, status, startedAt, scheduledAt, endedAt, createdAt, createdBy } = campaign;
  const isBefore = startedAt === null;
  const time = endedAt
    ? t('campaigns.endedAt', { time: dates.full(endedAt) })
    : startedAt
      ? t('campaigns.startedAt', { time: dates.full(startedAt) })
      : status === 'SCHEDULED' && scheduledAt
        ? t('campaigns.startsAt', { time: dates.full(scheduledAt) })
        : t('campaigns.createdAt', { time: dates.full(createdAt), name: createdBy.displayName });
  return (
    <Page
      title={name}
      above={
        <Link href="/campaigns" className="back-link">
          <Icon name="back" size={16} /> {t('nav.campaigns')}
        </Link>
      }
      lead={
        <>
          <StatusChip status={status} /> {time}
        </>
      }
      actions={<CampaignActions campaign={campaign} />}
    >
      {stopReason(campaign) && (
        <p className="notice danger" role="alert">
          {stopReason(campaign)}
        </p>
      )}
      {live.error && <UserErrors failure={live.error} />}
      {isBefore ? <CampaignPreview campaign={campaign} /> : <CampaignResults campaign={campaign} />}
      {!isBefore && <Recipients campaign={campaign} />}
      <CampaignSettings campaign={campaign} />
    </Page>
  );
}
