import { useAccount } from '../session/account.tsx';
import { useTexts } from '../texts/texts.tsx';
import { Empty } from '../ui/empty.tsx';
import type { InboxFilters } from './filters.ts';

interface Props {
  readonly filters: InboxFilters;
  readonly onReset: () => void;
}

/** Why the list is empty, and what to do. */
export function InboxEmpty({ filters, onReset }: Props) {
  const { t } = useTexts();
  const { can } = useAccount();
  const isFiltered =
    filters.status !== 'OPEN' ||
    filters.assignee ||
    filters.channel ||
    filters.tag ||
    filters.isUnread ||
    filters.search !== '';
  if (isFiltered)
    return (
      <div className="empty">
        <p>{t('inbox.noMatch')}</p>
        <button type="button" className="button" onClick={onReset}>
          {t('filter.reset')}
        </button>
      </div>
    );
  return (
    <Empty
      title={t('inbox.emptyTitle')}
      text={t('inbox.emptyText')}
      {...(can('MESSAGES_SEND') && { example: 'message' as const })}
    />
  );
}
