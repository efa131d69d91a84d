import type { CampaignItemFragment, CampaignStatus } from '../documents.generated.ts';
import { useTexts } from '../texts/texts.tsx';

const TONES: Readonly<Record<CampaignStatus, string>> = {
  DRAFT: '',
  SCHEDULED: 'info',
  RUNNING: 'accent',
  PAUSED: 'warning',
  COMPLETED: 'good',
  CANCELLED: '',
  FAILED: 'danger',
};

export function StatusChip({ status }: { readonly status: CampaignStatus }) {
  const { t } = useTexts();
  return <span className={`chip ${TONES[status]}`}>{t(`campaignStatus.${status}`)}</span>;
}

/** The reason why a campaign stopped by itself; undefined if it runs, or a person paused it. */
export const stopReason = ({ status, statusCode, statusReason }: CampaignItemFragment): string | undefined =>
  (status === 'PAUSED' && statusCode !== 'MANUAL') || status === 'FAILED' ? (statusReason ?? undefined) : undefined;

/** Recipients whose turn is over: messaged, skipped or failed. */
export const settledOf = ({ progress: { total, pending } }: CampaignItemFragment): number => total - pending;
