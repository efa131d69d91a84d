import { useEffect, useRef, useState } from 'react';
import { useQuery, useSubscription } from 'urql';
import {
  ConversationCountsDocument,
  InboxChannelsDocument,
  InboxTagsDocument,
  type InboxTagsQuery,
  LiveCountsDocument,
} from '../documents.generated.ts';
import { useAccount } from '../session/account.tsx';
import { useTexts } from '../texts/texts.tsx';
import { Icon } from '../ui/icon.tsx';
import { useAll } from '../ui/use-all.ts';
import { type FilterChange, type InboxFilters, STATUSES, statusParam } from './filters.ts';

interface Props {
  readonly filters: InboxFilters;
  readonly onChange: (change: FilterChange) => void;
}

const SEARCH_AFTER_MS = 250;

export const tagsOf = ({ tags }: InboxTagsQuery) => tags;

/** Search and filters above the list. */
export function ListHead({ filters, onChange }: Props) {
  const { t } = useTexts();
  const { can, staff, readStaff, viewer } = useAccount();
  const [{ data: counted }] = useQuery({ query: ConversationCountsDocument, requestPolicy: 'cache-and-network' });
  const [{ data: live }] = useSubscription({ query: LiveCountsDocument });
  const counts = live?.conversationCounts ?? counted?.conversationCounts;
  const { rows: tags = [], reload: readTags } = useAll({ query: InboxTagsDocument, connectionOf: tagsOf });
  const [{ data: connected }] = useQuery({ query: InboxChannelsDocument, pause: !can('CHANNELS_READ') });
  const channels = connected?.channels?.nodes ?? [];
  const numbers = counts && {
    OPEN: counts.open,
    PENDING: counts.pending,
    SNOOZED: counts.snoozed,
    CLOSED: undefined,
  };
  return (
    <header className="list-head">
      <SearchBox value={filters.search} onChange={q => onChange({ q })} />
      <fieldset className="tabs" aria-label={t('filter.status')}>
        {[...STATUSES, undefined].map(status => (
          <button
            key={status ?? 'all'}
            type="button"
            className="tab"
            aria-pressed={filters.status === status}
            onClick={() => onChange({ status: statusParam(status) })}
          >
            {status ? t(`status.${status}`) : t('filter.all')}
            {status && numbers?.[status] ? <span className="tab-count">{numbers[status]}</span> : null}
          </button>
        ))}
      </fieldset>
      <div className="list-filters">
        <select
          aria-label={t('filter.assignee')}
          value={filters.assignee ?? ''}
          onFocus={readStaff}
          onChange={event => onChange({ assignee: event.target.value })}
        >
          <option value="">{t('filter.anyone')}</option>
          <option value="none">{t('filter.nobody')}</option>
          {viewer.staffMember && <option value={viewer.staffMember.id}>{t('filter.me')}</option>}
          {staff
            .filter(({ id }) => id !== viewer.staffMember?.id)
            .map(({ id, name }) => (
              <option key={id} value={id}>
                {name}
              </option>
            ))}
        </select>
        {channels.length > 1 && (
          <select
            aria-label={t('filter.channel')}
            value={filters.channel ?? ''}
            onChange={event => onChange({ channel: event.target.value })}
          >
            <option value="">{t('filter.anyChannel')}</option>
            {channels.map(({ id, name }) => (
              <option key={id} value={id}>
                {name}
              </option>
            ))}
          </select>
        )}
        {tags.length > 0 && (
          <select
            aria-label={t('filter.tag')}
            value={filters.tag ?? ''}
            onFocus={readTags}
            onChange={event => onChange({ tag: event.target.value })}
          >
            <option value="">{t('filter.anyTag')}</option>
            {tags.map(({ id, name }) => (
              <option key={id} value={id}>
                {name}
              </option>
            ))}
          </select>
        )}
        <label className="toggle">
          <input
            type="checkbox"
            checked={filters.isUnread}
            onChange={event => onChange({ unread: event.target.checked ? '1' : undefined })}
          />
          {t('filter.unread')}
        </label>
      </div>
    </header>
  );
}

function SearchBox({ value, onChange }: { readonly value: string; readonly onChange: (text: string) => void }) {
  const { t } = useTexts();
  const [text, setText] = useState(value);
  const latest = useRef(onChange);
  latest.current = onChange;
  // What stands in the address lacks the space after the last word, which is not done yet.
  useEffect(() => setText(before => (before.trim() === value ? before : value)), [value]);
  useEffect(() => {
    if (text.trim() === value) return;
    const timer = setTimeout(() => latest.current(text.trim()), SEARCH_AFTER_MS);
    return () => clearTimeout(timer);
  }, [text, value]);
  return (
    <label className="search">
      <Icon name="search" size={17} />
      <span className="visually-hidden">{t('inbox.search')}</span>
      <input
        id="inbox-search"
        type="search"
        placeholder={t('inbox.search')}
        value={text}
        onChange={event => setText(event.target.value)}
        onKeyDown={event => {
          if (event.key === 'Escape') event.currentTarget.blur();
        }}
      />
      <kbd>/</kbd>
    </label>
  );
}
