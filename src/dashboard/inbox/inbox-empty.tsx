import { useAccount } from '../session/account.tsx';
import { useTexts } from '../texts/texts.tsx';
import { Example } from '../ui/example.tsx';
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
    <div className="empty">
      <h2>{t('inbox.emptyTitle')}</h2>
      <p>{t('inbox.emptyText')}</p>
      {can('MESSAGES_SEND') && (
        <Example
          text={`curl ${location.origin}/graphql \\
  -H "Authorization: Bearer $TOKEN" -H 'Content-Type: application/json' \\
  -d '{"query":"mutation { sendMessage(input: { to: { phone: \\"+14155550123\\" }, content: { template: { name: \\"hello_world\\", language: \\"en_US\\" } } }) { message { id } userErrors { message } } }"}'`}
        />
      )}
    </div>
  );
}
